# Starts a program in a copy of a view with the tree of a run mounted in the copy. The tree is a mount, and a view must not hold such a
# mount, so only the program's own copy of the view has the tree. Executes the program, as nsenter does, and takes as long as nsenter. Loads
# no module: each module takes longer than the whole script.
# Arguments: --mount=VIEW, the numbers of the system calls below, the tree, the tree's path in the view, uid, gid, the program and its
# arguments.
sub refuse {
  print STDERR "$_[0]: $!\n";
  exit 1;
}

sub call {
  my ($what, @call) = @_;
  my $result = syscall($call[0], @call[1 .. $#call]);
  refuse($what) if $result == -1;
  return $result;
}

my $view = substr(shift @ARGV, length '--mount=');
my ($open_tree, $move_mount, $mount_setattr, $setns, $unshare, $setgroups, $setresgid, $setresuid) = map { $_ + 0 } splice @ARGV, 0, 8;
my ($tree, $place, $uid, $gid) = splice @ARGV, 0, 4;
my ($here, $empty, $from_empty, $at_empty, $recursive) = (-100, '', 4, 0x1000, 0x8000);
my ($clone, $closed_at_exec, $newns, $private) = (1, 0x80000, 0x00020000, 1 << 18);
$_ += 0 for $uid, $gid;

# Copies the tree's mount, with the mounts below, in the mount namespace of the host.
my $copy = call('open_tree', $open_tree, $here, $tree, $clone | $closed_at_exec | $recursive);
my $attributes = pack 'QQQQ', 0, 0, $private, 0;
call('mount_setattr', $mount_setattr, $copy, $empty, $at_empty | $recursive, $attributes, 32);

open(my $namespace, '<', $view) or refuse($view);
call('setns', $setns, fileno $namespace, $newns);
call('unshare', $unshare, $newns);
call('move_mount', $move_mount, $copy, $empty, $here, $place, $from_empty);

# Last, because with the uid the process loses the rights of root.
call('setgroups', $setgroups, 0, 0);
call('setresgid', $setresgid, $gid, $gid, $gid);
call('setresuid', $setresuid, $uid, $uid, $uid);
exec { $ARGV[0] } @ARGV;
refuse($ARGV[0]);
