# Mounts and unmounts trees of runs for one worker, as root: a process of Node takes milliseconds to start a program, and Node has no mount
# calls. Each line is a request: a number, a verb, and its arguments in hex. Each has a line as its reply: the number, 0 or an errno, and a
# message in hex. Requests are done at the same time, each by a fork of this small process. Ends with the pipe of its worker.
use strict;
use warnings;
use Fcntl qw(:flock);
use POSIX ();

my $machine = (POSIX::uname())[4];
my %numbers = (x86_64 => [272, 308, 166], aarch64 => [97, 268, 39]);
my ($unshare, $setns, $umount2) = @{ $numbers{$machine} or die "unknown machine\n" };
# From 424 on, a call has the same number on every machine.
my ($open_tree, $move_mount, $fsopen, $fsconfig, $fsmount, $mount_setattr) = (428, 429, 430, 431, 432, 442);
my ($newuser, $newns) = (0x10000000, 0x00020000);
my ($here, $empty) = (-100, '');
my ($readonly, $nosuid, $nodev, $idmap) = (1, 2, 4, 0x00100000);
# From an empty path: the descriptor itself is moved.
my $from_empty = 4;

my %verbs = (mount => \&mount_overlay, adopt => \&adopt_mount, move => \&move_tree, umount => \&unmount, detach => \&detach);

# Descriptors that calls of the kernel have opened. Perl closes its own.
my @opened;

$SIG{CHLD} = 'IGNORE';
while (defined(my $line = <STDIN>)) {
  my $child = fork();
  if (!defined $child) {
    reply((split ' ', $line)[0], $! + 0, "fork: $!");
    next;
  }
  next if $child != 0;
  $SIG{CHLD} = 'DEFAULT';
  my ($id, $verb, @args) = split ' ', $line;
  my $done = eval { $verbs{$verb}->(map { pack 'H*', $_ } @args); 1 };
  my $error = $@;
  # An open mount is busy: whoever reads the reply may unmount it before this process has ended.
  POSIX::close($_) for @opened;
  if ($done) {
    reply($id, 0, '');
  } else {
    reply($id, ref $error ? @{ $error } : (POSIX::EIO(), "$error"));
  }
  # Nobody else would, where the first process of a container does not.
  1 while waitpid(-1, 0) > 0;
  POSIX::_exit(0);
}

# One write, which no other process can divide: a pipe takes 4096 bytes as a whole.
sub reply {
  my ($id, $errno, $message) = @_;
  syswrite STDOUT, "$id $errno " . unpack('H*', substr($message, 0, 1000)) . "\n";
}

sub fail {
  my ($what) = @_;
  die [$! + 0, "$what: $!"];
}

sub call {
  my ($what, @call) = @_;
  my $result = syscall($call[0], @call[1 .. $#call]);
  return $result if $result != -1;
  fail($what);
}

sub opened {
  my $descriptor = call(@_);
  push @opened, $descriptor;
  return $descriptor;
}

# An overlay of an upper folder over a layer, whose files seem to belong to the run's uid and gid. mount(8) of Debian 12 cannot map ids.
sub mount_overlay {
  my ($layer, $upper, $work, $target, $uid, $gid) = @_;

  # A user namespace needs a process.
  pipe(my $ready, my $say_ready) and pipe(my $end, my $say_end) or fail('pipe');
  my $child = fork() // fail('fork');
  if ($child == 0) {
    close $ready;
    close $say_end;
    syswrite $say_ready, 'x' if syscall($unshare, $newuser) != -1;
    close $say_ready;
    sysread $end, my $nothing, 1;
    POSIX::_exit(0);
  }
  close $say_ready;
  close $end;
  sysread($ready, my $byte, 1) or die "no user namespace\n";
  for (['uid_map', $uid], ['gid_map', $gid]) {
    open(my $map, '>', "/proc/$child/$_->[0]") or fail($_->[0]);
    print $map "0 $_->[1] 1\n";
    close $map or fail($_->[0]);
  }
  open(my $ids, '<', "/proc/$child/ns/user") or fail('user namespace');

  my $clone = opened('open_tree', $open_tree, $here, $layer, 1);
  my $mapped = pack('QQQQ', $idmap | $readonly | $nosuid | $nodev, 0, 0, fileno $ids);
  call('idmap', $mount_setattr, $clone, $empty, 0x1000, $mapped, 32);

  # From Linux 6.15 on, an overlay can stand on a mount that is in no namespace. Before, the layer is mounted in a private mount namespace,
  # so nothing is left when this process dies in between. That copies all mounts of the host, so it is the second choice.
  my ($major, $minor) = (POSIX::uname())[2] =~ /^(\d+)\.(\d+)/;
  my $detached = $major > 6 || ($major == 6 && $minor >= 15);
  open(my $host, '<', '/proc/self/ns/mnt') or fail('mount namespace');
  if (!$detached) {
    call('unshare', $unshare, $newns);
    my $top = '/';
    my $private = pack('QQQQ', 0, 0, 1 << 18, 0);
    call('private', $mount_setattr, $here, $top, 0x8000, $private, 32);
    call('move_mount', $move_mount, $clone, $empty, $here, $layer, $from_empty);
  }

  # By descriptor: the paths of the host would be seen in /proc/self/mountinfo of every sandbox, and `:` and `,` would end one.
  my %folders = (upperdir => $upper, workdir => $work);
  $folders{lowerdir} = $layer unless $detached;
  my %open;
  for (sort keys %folders) {
    opendir($open{$_}, $folders{$_}) or fail($folders{$_});
  }
  my $kind = 'overlay';
  my $context = opened('fsopen', $fsopen, $kind, 0);
  # index: the kernel refuses a second overlay with the same upper folder. volatile: no fsync, because a tree is not trusted after a power
  # failure. redirect_dir: a folder of the layer can be renamed.
  my %options = (source => 'holdpoint', redirect_dir => 'on', index => 'on', metacopy => 'off', xino => 'auto', lowerdir => "/proc/self/fd/$clone");
  $options{$_} = '/proc/self/fd/' . fileno($open{$_}) for keys %open;
  for my $key (sort keys %options) {
    my ($name, $value) = ("$key", "$options{$key}");
    call($key, $fsconfig, $context, 1, $name, $value, 0);
  }
  my $volatile = 'volatile';
  call('volatile', $fsconfig, $context, 0, $volatile, 0, 0);
  call('overlay', $fsconfig, $context, 6, 0, 0, 0);
  my $mount = opened('fsmount', $fsmount, $context, 1, $nosuid | $nodev);
  call('setns', $setns, fileno $host, $newns) unless $detached;
  call('move_mount', $move_mount, $mount, $empty, $here, $target, $from_empty);
}

# Mounts a tree where it belongs by a copy of a mount of another mount namespace, which keeps the kernel from mounting its overlay once more.
# Arguments: a process of that namespace, mount point (the same in both), a file to lock.
sub adopt_mount {
  my ($pid, $target, $lock) = @_;
  my ($above) = $target =~ m{^(.*)/[^/]+$};
  # Two processes would place it twice.
  open(my $locked, '<', $lock) or fail($lock);
  flock($locked, LOCK_EX) or fail('flock');
  open(my $host, '<', '/proc/self/ns/mnt') or fail('mount namespace');
  open(my $other, '<', "/proc/$pid/ns/mnt") or fail('the other mount namespace');
  # Whoever owns a user namespace can mount in its mount namespaces what they like. NS_GET_USERNS.
  my $owner = ioctl($other, 0xb701, 0) or fail('its owner');
  my @own = stat('/proc/self/ns/user');
  my @theirs = stat("/proc/self/fd/" . ($owner + 0));
  die "it belongs to another user\n" unless "@own[0, 1]" eq "@theirs[0, 1]";

  my @before = stat($above) or fail($above);
  call('setns', $setns, fileno $other, $newns);
  # Another container can have another data directory at this path.
  my @there = stat($above);
  die "nothing is mounted there\n" unless @there && "@there[0, 1]" eq "@before[0, 1]" && (stat($target))[0] != $there[0];
  my $clone = opened('open_tree', $open_tree, $here, $target, 1);
  call('setns', $setns, fileno $host, $newns);
  # The copy keeps the kernel from mounting another one from here on.
  return if (stat($target))[0] != $before[0];
  call('move_mount', $move_mount, $clone, $empty, $here, $target, $from_empty);
}

# By a copy: the kernel moves no mount out of a shared one.
sub move_tree {
  my ($source, $target) = @_;
  my $clone = opened('open_tree', $open_tree, $here, $source, 1);
  call('move_mount', $move_mount, $clone, $empty, $here, $target, $from_empty);
  detach($source);
}

# Refused while a process of this mount namespace uses one. Every path is tried.
sub unmount { unmount_with(8, @_) }

# Processes that use one keep it.
sub detach { unmount_with(8 | 2, @_) }

sub unmount_with {
  my ($flags, @paths) = @_;
  my $refused;
  for my $path (@paths) {
    eval { call($path, $umount2, $path, $flags); 1 } or $refused //= $@;
  }
  die $refused if defined $refused;
}
