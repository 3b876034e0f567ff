# Runs a command in a terminal of its own, inside of the sandbox: perl -e PROGRAM -- COLUMNS ROWS COMMAND…
# Standard input goes to the terminal as if typed, and its end as Ctrl-D. The terminal's output goes to standard output. Ends as the command does.
use strict;
use warnings;
use Fcntl qw(F_SETFL O_RDWR O_NOCTTY O_NONBLOCK);
use POSIX ();

# Numbers of ioctl.h, equal on x86-64 and arm64.
my ($TIOCSPTLCK, $TIOCGPTN, $TIOCSWINSZ, $TIOCSCTTY) = (0x40045431, 0x80045430, 0x5414, 0x540e);
my ($columns, $rows, @command) = @ARGV;

sysopen(my $terminal, '/dev/ptmx', O_RDWR | O_NOCTTY) or die "no terminal: $!\n";
my $number = pack('i', 0);
ioctl($terminal, $TIOCSPTLCK, $number) or die "no terminal: $!\n";
ioctl($terminal, $TIOCGPTN, $number) or die "no terminal: $!\n";
my $path = '/dev/pts/' . unpack('i', $number);

# Programs left behind may keep the terminal open: the end of the command counts. A signal just before select is seen a second later. The
# worker stops and continues the command for snapshots, which sends the same signal.
my ($over, $status, $child) = (0, 0, undef);
$SIG{CHLD} = sub { ($over, $status) = (1, $?) if !$over && defined $child && waitpid($child, POSIX::WNOHANG) == $child };
$child = fork() // die "no terminal: $!\n";
if ($child == 0) {
  POSIX::setsid();
  sysopen(my $side, $path, O_RDWR) or die "no terminal: $!\n";
  ioctl($side, $TIOCSCTTY, 0) or die "no terminal: $!\n";
  my $size = pack('S4', $rows, $columns, 0, 0);
  ioctl($side, $TIOCSWINSZ, $size) or die "no terminal: $!\n";
  POSIX::dup2(fileno($side), $_) for 0 .. 2;
  POSIX::close($_) for 3 .. 63;
  $ENV{TERM} = 'dumb';
  exec { $command[0] } @command or die "cannot start $command[0]: $!\n";
}

sub put {
  my ($to, $text) = @_;
  while (length $text) {
    my $written = syswrite($to, $text);
    if (!defined $written) { next if $!{EINTR}; last }
    substr($text, 0, $written, '');
  }
}

# A full terminal must not block this program: a command that prints and does not read would wait for ever.
fcntl($terminal, F_SETFL, O_RDWR | O_NONBLOCK);
$SIG{PIPE} = 'IGNORE';
my ($typing, $typed) = (1, '');
while (1) {
  my ($read, $write) = ('', '');
  vec($read, fileno($terminal), 1) = 1;
  vec($read, fileno(STDIN), 1) = 1 if $typing && $typed eq '';
  vec($write, fileno($terminal), 1) = 1 if $typed ne '';
  my $found = select($read, $write, undef, $over ? 0 : 1);
  $SIG{CHLD}->() if $found == 0;
  next if $found < 0;
  last if $over && (!vec($read, fileno($terminal), 1) || $over++ > 64);
  if (vec($read, fileno(STDIN), 1)) {
    my $count = sysread(STDIN, $typed, 65536);
    if (!defined $count) { $typed = '' }
    elsif ($count == 0) { ($typing, $typed) = (0, "\x04") }
  }
  if ($typed ne '') {
    my $written = syswrite($terminal, $typed);
    substr($typed, 0, $written, '') if defined $written;
  }
  if (vec($read, fileno($terminal), 1)) {
    my $count = sysread($terminal, my $text, 65536);
    next if !defined $count && ($!{EINTR} || $!{EAGAIN});
    last unless $count;
    put(*STDOUT, $text);
  }
}
waitpid($child, 0), $status = $? unless $over;
my ($signal, $code) = ($status & 127, $status >> 8);
if ($signal) { $SIG{$_} = 'DEFAULT' for 'PIPE'; kill $signal, $$; sleep 1 }
exit($signal ? 128 + $signal : $code);
