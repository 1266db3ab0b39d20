#!/usr/bin/perl
# Makes one of each kind of shared memory, every one with a number of pages of its own, and holds it until its standard input ends.
# Prints one JSON line that says what was made. Perl, because it is on every Debian: the host and the guests run the same.
#
#   holder.pl DIR [SYSCALLS...]   DIR is a tmpfs, large enough
use strict;
use warnings;
use Fcntl;

my ($dir) = @ARGV;
my $page = 4096;
my %made = (pid => $$);
my ($MMAP, $MEMFD, $SHMAT) = (9, 319, 30);    # x86_64

sub fill { my ($fh, $pages) = @_; syswrite($fh, join('', map { pack('L', $_) . 'x' x ($page - 4) } 1 .. $pages)) == $pages * $page or die "write: $!" }
sub ino { (stat $_[0])[1] }

# A file with a name, kept open; sparse: 41 pages of 1000.
sysopen(my $file, "$dir/file", O_RDWR | O_CREAT) or die "$dir/file: $!";
fill($file, 41);
truncate($file, 1000 * $page);
$made{file} = { path => "$dir/file", ino => ino($file), pages => 41 };

# One that nobody opens.
sysopen(my $alone, "$dir/alone", O_RDWR | O_CREAT) or die "$dir/alone: $!";
fill($alone, 43);
$made{alone} = { path => "$dir/alone", ino => ino($alone), pages => 43 };
close $alone;

# Deleted and open.
sysopen(my $gone, "$dir/gone", O_RDWR | O_CREAT) or die "$dir/gone: $!";
fill($gone, 47);
unlink "$dir/gone";
utime(time - 7200, time - 7200, $gone);
$made{deleted} = { ino => ino($gone), pages => 47 };

# Deleted and mapped, with no descriptor left.
sysopen(my $mapped, "$dir/mapped", O_RDWR | O_CREAT) or die "$dir/mapped: $!";
fill($mapped, 53);
my $at = syscall($MMAP, 0, 53 * $page, 3, 1, fileno $mapped, 0);
die "mmap: $!" if $at == -1;
unlink "$dir/mapped";
$made{mapped} = { ino => ino($mapped), pages => 53 };
close $mapped;

# memfd, twice open.
my $name = "ramline test";
my $fd = syscall($MEMFD, $name, 0);
die "memfd_create: $!" if $fd < 0;
open(my $memfd, '+<&=', $fd) or die "memfd: $!";
fill($memfd, 59);
open(my $again, '+<&', $memfd) or die "dup: $!";
$made{memfd} = { ino => ino($memfd), pages => 59 };

# Shared anonymous memory: 61 pages touched of 100. Reading into it touches it.
my $anon = syscall($MMAP, 0, 100 * $page, 3, 0x21, -1, 0);
die "mmap: $!" if $anon == -1;
open(my $zero, '<', '/dev/zero') or die "/dev/zero: $!";
syscall(0, fileno $zero, $anon, 61 * $page) == 61 * $page or die "read: $!";
$made{anonymous} = { pages => 61 };

# A System V segment: 67 pages touched of 80; attached once more than it is counted.
my $id = shmget(0, 80 * $page, 01600);
die "shmget: $!" unless defined $id;
shmwrite($id, 'y' x (67 * $page), 0, 67 * $page) or die "shmwrite: $!";
my $seg = syscall($SHMAT, $id, 0, 0);
die "shmat: $!" if $seg == -1;
$made{segment} = { id => $id, pages => 67 };

my $json = join ', ', map {
    my $value = $made{$_};
    my $inner = ref $value ? '{' . join(', ', map { "\"$_\": " . ($value->{$_} =~ /^\d+$/ ? $value->{$_} : "\"$value->{$_}\"") } sort keys %$value) . '}' : $value;
    "\"$_\": $inner"
} sort keys %made;
$| = 1;
print "{$json}\n";
my $line = <STDIN>;
shmctl($id, 0, 0);
