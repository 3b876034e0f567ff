# Takes the right to start a program from every mount of a sandbox that does not belong to the system, before its command begins. bubblewrap has
# no option for that. Loads no module: each takes longer than all the rest.
# Arguments: pid of a process in the sandbox, its mount namespace as /proc/PID/ns/mnt names it, the numbers of setns and mount_setattr.
# The name keeps a pid that was used again from leading elsewhere. As a plain user it becomes the owner of the sandbox first.
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
