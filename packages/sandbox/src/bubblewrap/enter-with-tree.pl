# Starts a program in a view that has the tree of a run besides. A tree can be a mount, which a view must not hold, so only a copy of the view for
# this program alone has it. Becomes the program, as nsenter does, and needs as long. Loads no module: each takes longer than all the rest.
# Arguments: --mount=VIEW, the numbers of the system calls below, the tree, where it comes in the view, uid, gid, the program and its arguments.
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

# In the mount namespace of the host, where the tree is mounted now. With what is mounted below it.
my $copy = call('open_tree', $open_tree, $here, $tree, $clone | $closed_at_exec | $recursive);
my $attributes = pack 'QQQQ', 0, 0, $private, 0;
call('mount_setattr', $mount_setattr, $copy, $empty, $at_empty | $recursive, $attributes, 32);

open(my $namespace, '<', $view) or refuse($view);
call('setns', $setns, fileno $namespace, $newns);
call('unshare', $unshare, $newns);
call('move_mount', $move_mount, $copy, $empty, $here, $place, $from_empty);

# Last: the kernel takes the rights of root with the uid.
call('setgroups', $setgroups, 0, 0);
call('setresgid', $setresgid, $gid, $gid, $gid);
call('setresuid', $setresuid, $uid, $uid, $uid);
exec { $ARGV[0] } @ARGV;
refuse($ARGV[0]);
