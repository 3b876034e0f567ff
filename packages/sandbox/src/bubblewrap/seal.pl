# Sets noexec on every mount of a sandbox except the system's mounts, before the command begins. bubblewrap has no option to set noexec.
# Loads no module: each module takes longer than the whole script.
# Arguments: pid of a process in the sandbox, the process's mount namespace as named by /proc/PID/ns/mnt, the numbers of setns and
# mount_setattr. The script compares the namespace's name, because the pid may belong to another process by now. As a plain user the script
# first enters the sandbox's user namespace, as its owner.
sub refuse {
  print STDERR "$_[0]: $!\n";
  exit 1;
}

my ($pid, $name, $setns, $mount_setattr) = splice @ARGV, 0, 4;
$_ += 0 for $setns, $mount_setattr;
my ($newuser, $newns, $owner_of) = (0x10000000, 0x00020000, 0xb701);
my ($here, $noexec) = (-100, 8);

open(my $namespace, '<', "/proc/$pid/ns/mnt") or refuse($name);
my $opened = readlink('/proc/self/fd/' . fileno $namespace);
refuse($name) if $opened ne $name || $name eq readlink '/proc/self/ns/mnt';
open(my $table, '<', "/proc/$pid/mountinfo") or refuse($name);
my @mounts = <$table>;
if ($> != 0) {
  my $owner = ioctl($namespace, $owner_of, 0);
  refuse('its owner') unless defined $owner;
  syscall($setns, $owner + 0, $newuser) == 0 or refuse('its user namespace');
}
syscall($setns, fileno $namespace, $newns) == 0 or refuse('its mounts');
for (@mounts) {
  my $path = (split / /)[4];
  $path =~ s/\\([0-7]{3})/chr oct $1/ge;
  next if $path eq '/' || $path =~ m{^/(?:usr|bin|sbin|lib|lib32|lib64|libx32|proc)(?:/|$)};
  my $attributes = pack 'QQQQ', $noexec, 0, 0, 0;
  syscall($mount_setattr, $here, $path, 0, $attributes, 32) == 0 or refuse($path);
}
