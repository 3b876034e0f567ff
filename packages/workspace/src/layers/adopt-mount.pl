# Mounts the tree of a run where it belongs by a copy of a mount of another mount namespace, which keeps the kernel from mounting its
# overlay once more. Runs as root. Arguments: a process of that namespace, mount point (the same in both), a file to lock.
# Exit code 3: the mount is not to be had from there.
use strict;
use warnings;
use Fcntl qw(:flock);
use POSIX ();

my ($pid, $target, $lock) = @ARGV;
my %numbers = (x86_64 => 308, aarch64 => 268);
my $setns = $numbers{ (POSIX::uname())[4] } or die "unknown machine\n";
# From 424 on, a call has the same number on every machine.
my ($open_tree, $move_mount) = (428, 429);
my ($newns, $here, $empty) = (0x00020000, -100, '');
my ($above) = $target =~ m{^(.*)/[^/]+$};

sub call {
  my ($what, @call) = @_;
  my $result = syscall($call[0], @call[1 .. $#call]);
  return $result if $result != -1;
  print STDERR "$what: $!\n";
  exit 3;
}

# Two processes would place it twice.
open(my $locked, '<', $lock) or die "$lock: $!\n";
flock($locked, LOCK_EX) or die "flock: $!\n";
open(my $host, '<', '/proc/self/ns/mnt') or die "mount namespace: $!\n";
open(my $other, '<', "/proc/$pid/ns/mnt") or exit 3;
# Whoever owns a user namespace can mount in its mount namespaces what they like. NS_GET_USERNS.
my $owner = ioctl($other, 0xb701, 0) or exit 3;
my @own = stat('/proc/self/ns/user');
my @theirs = stat("/proc/self/fd/" . ($owner + 0));
exit 3 unless "@own[0, 1]" eq "@theirs[0, 1]";

my @before = stat($above) or die "$above: $!\n";
call('setns', $setns, fileno $other, $newns);
# Another container can have another data directory at this path.
my @there = stat($above);
exit 3 unless @there && "@there[0, 1]" eq "@before[0, 1]" && (stat($target))[0] != $there[0];
my $clone = call('open_tree', $open_tree, $here, $target, 1);
call('setns', $setns, fileno $host, $newns);
# The copy keeps the kernel from mounting another one from here on.
exit 0 if (stat($target))[0] != $before[0];
call('move_mount', $move_mount, $clone, $empty, $here, $target, 4);
