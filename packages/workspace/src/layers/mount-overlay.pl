# Mounts the tree of a run: an overlay of its upper folder over a layer, whose files seem to belong to the run's uid and gid. Runs as root.
# mount(8) of Debian 12 cannot map ids, and Node has no mount calls. Arguments: layer, upper, work, mount point, uid, gid.
use strict;
use warnings;
use POSIX ();

my ($layer, $upper, $work, $target, $uid, $gid) = @ARGV;
my %numbers = (x86_64 => [272, 308], aarch64 => [97, 268]);
my ($unshare, $setns) = @{ $numbers{ (POSIX::uname())[4] } or die "unknown machine\n" };
# From 424 on, a call has the same number on every machine.
my ($open_tree, $move_mount, $fsopen, $fsconfig, $fsmount, $mount_setattr) = (428, 429, 430, 431, 432, 442);
my ($newuser, $newns) = (0x10000000, 0x00020000);
my ($here, $empty) = (-100, '');
my ($readonly, $nosuid, $nodev, $idmap) = (1, 2, 4, 0x00100000);

# Descriptors stay open for nobody: this process starts no program.
sub call {
  my ($what, @call) = @_;
  my $result = syscall($call[0], @call[1 .. $#call]);
  return $result if $result != -1;
  my $number = $! + 0;
  die "$what: $!\n" unless $number == POSIX::EBUSY();
  print STDERR "$what: $!\n";
  exit 16;
}

# A user namespace needs a process.
pipe(my $ready, my $say_ready) and pipe(my $end, my $say_end) or die "pipe: $!\n";
my $child = fork() // die "fork: $!\n";
if ($child == 0) {
  close $ready;
  close $say_end;
  call('unshare', $unshare, $newuser);
  syswrite $say_ready, 'x';
  sysread $end, my $nothing, 1;
  POSIX::_exit(0);
}
close $say_ready;
close $end;
sysread($ready, my $byte, 1) or die "no user namespace\n";
for (['uid_map', $uid], ['gid_map', $gid]) {
  open(my $map, '>', "/proc/$child/$_->[0]") or die "$_->[0]: $!\n";
  print $map "0 $_->[1] 1\n";
  close $map or die "$_->[0]: $!\n";
}
open(my $ids, '<', "/proc/$child/ns/user") or die "user namespace: $!\n";

my $clone = call('open_tree', $open_tree, $here, $layer, 1);
my $mapped = pack('QQQQ', $idmap | $readonly | $nosuid | $nodev, 0, 0, fileno $ids);
call('idmap', $mount_setattr, $clone, $empty, 0x1000, $mapped, 32);

# From Linux 6.15 on, an overlay can stand on a mount that is in no namespace. Before, the layer is mounted in a private mount namespace, so
# nothing is left when this process dies in between. That copies all mounts of the host, so it is the second choice.
my $release = (POSIX::uname())[2];
my ($major, $minor) = $release =~ /^(\d+)\.(\d+)/;
my $detached = $major > 6 || ($major == 6 && $minor >= 15);
open(my $host, '<', '/proc/self/ns/mnt') or die "mount namespace: $!\n";
if (!$detached) {
  call('unshare', $unshare, $newns);
  my $top = '/';
  my $private = pack('QQQQ', 0, 0, 1 << 18, 0);
  call('private', $mount_setattr, $here, $top, 0x8000, $private, 32);
  call('move_mount', $move_mount, $clone, $empty, $here, $layer, 4);
}

# By descriptor: the paths of the host would be seen in /proc/self/mountinfo of every sandbox, and `:` and `,` would end one.
my %folders = (upperdir => $upper, workdir => $work);
$folders{lowerdir} = $layer unless $detached;
my %open;
for (sort keys %folders) {
  opendir($open{$_}, $folders{$_}) or die "$folders{$_}: $!\n";
}
my $kind = 'overlay';
my $context = call('fsopen', $fsopen, $kind, 0);
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
my $mount = call('fsmount', $fsmount, $context, 1, $nosuid | $nodev);
call('setns', $setns, fileno $host, $newns) unless $detached;
call('move_mount', $move_mount, $mount, $empty, $here, $target, 4);
syswrite $say_end, 'x';
waitpid $child, 0;
