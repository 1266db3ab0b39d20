//! QEMU as a child: its command line, and its end in every case.
//!
//! What it is not: a shell around all QEMU can do. A guest has a console, one port, at most two disks, no network, no
//! display and no monitor. The console and the port are sockets of ours, handed over as standard input and output.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::channel;

use super::guest::{ARGUMENT, CODE_DISK, PORT, SWAP_DISK};
use super::message::Message;
use crate::child::Supervisor;
use crate::child::lines::{self, ChildLine, LONGEST};
use crate::prelude::*;

/// The emulator for this machine's architecture.
pub const PROGRAM: &str = "qemu-system-x86_64";
/// What QEMU takes beside the guest's memory: itself, and translated code.
pub const OVERHEAD: Bytes = Bytes::from_mib(192);
/// Addresses, not memory: libraries, stacks and the cache of translated code.
const ADDRESSES: Bytes = Bytes::from_gib(3);

/// How the guest's processor is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accel {
    /// By this machine's own.
    Kvm,
    /// In software.
    Tcg,
}

impl Accel {
    /// As QEMU writes it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Accel::Kvm => "kvm",
            Accel::Tcg => "tcg",
        }
    }
}

/// What to boot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guest {
    /// The kernel.
    pub kernel: PathBuf,
    /// The initramfs.
    pub initrd: PathBuf,
    /// Memory.
    pub memory: Bytes,
    /// Processors.
    pub cpus: u64,
    /// How it is made.
    pub accel: Accel,
    /// Image of the code disk, read only.
    pub code: Option<PathBuf>,
    /// Image of the swap disk.
    pub swap: Option<PathBuf>,
}

/// A name with a comma would end an option of QEMU's.
fn escaped(path: &Path) -> String {
    path.display().to_string().replace(',', ",,")
}

impl Guest {
    /// The arguments.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        // rootfstype=ramfs: an initramfs in tmpfs could be swapped out, the binary that watches included.
        // mitigations=off: they cost time and protect nothing in a guest that runs one program of ours.
        // no_timer_check: on a busy host the kernel's test of its timer comes out late, and it panics.
        // cryptomgr.notests: each cipher tests itself otherwise, two seconds of an emulated boot.
        let append = format!(
            "console=ttyS0 loglevel=4 panic=-1 oops=panic no_timer_check rootfstype=ramfs mitigations=off cryptomgr.notests rdinit=/init -- {ARGUMENT}"
        );
        let (machine, cpu) = match self.accel {
            Accel::Kvm => ("pc,accel=kvm".to_owned(), "host"),
            Accel::Tcg => ("pc".to_owned(), "qemu64,+rdrand"),
        };
        let mut words = vec!["-machine".to_owned(), machine];
        if self.accel == Accel::Tcg {
            // With a thread for each processor the emulator now and then runs a half-patched instruction of the kernel (int3).
            let threads = if self.cpus > 1 { ",thread=single" } else { "" };
            words.extend(["-accel".to_owned(), format!("tcg,tb-size=64{threads}")]);
        }
        let fixed =
            ["-nodefaults", "-no-user-config", "-display", "none", "-nic", "none", "-no-reboot", "-monitor", "none"];
        words.extend(fixed.map(str::to_owned));
        let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
        add("-cpu", cpu.to_owned());
        add("-m", format!("{}k", self.memory.0 / 1024));
        add("-smp", self.cpus.to_string());
        add("-kernel", self.kernel.display().to_string());
        add("-initrd", self.initrd.display().to_string());
        add("-append", append);
        add("-chardev", "socket,id=console,fd=0".to_owned());
        add("-serial", "chardev:console".to_owned());
        add("-device", "virtio-serial-pci".to_owned());
        add("-chardev", "socket,id=port,fd=1".to_owned());
        add("-device", format!("virtserialport,chardev=port,name={PORT}"));
        for (image, id, serial, read_only) in
            [(&self.code, "code", CODE_DISK, "on"), (&self.swap, "swap", SWAP_DISK, "off")]
        {
            let Some(image) = image else { continue };
            // cache=unsafe: what is on these disks is worth nothing after the run.
            let drive =
                format!("if=none,id={id},format=raw,cache=unsafe,read-only={read_only},file={}", escaped(image));
            add("-drive", drive);
            add("-device", format!("virtio-blk-pci,drive={id},serial={serial}"));
        }
        words
    }
}

/// What comes from a running guest.
#[derive(Debug, Clone, PartialEq)]
pub enum FromGuest {
    /// A line on its console.
    Console(String),
    /// A message over the port.
    Message(Box<Message>),
}

impl Guest {
    /// Starts QEMU: in a session of its own, dying with the calling thread, in the journal of `run`. The thread has its
    /// complaints in the end.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(&self, run: &mut Run) -> Result<(Supervisor<FromGuest>, Option<JoinHandle<String>>)> {
        let failed = |error: std::io::Error| LabError::Workload(format!("no socket for the guest: {error}"));
        let (console, far_console) = UnixStream::pair().map_err(failed)?;
        let (port, far_port) = UnixStream::pair().map_err(failed)?;
        let mut command = ramline_kernel::program::command(PROGRAM)?;
        command.args(self.arguments()).stdin(Stdio::from(OwnedFd::from(far_console)));
        command.stdout(Stdio::from(OwnedFd::from(far_port))).stderr(Stdio::piped());
        process::in_own_session(&mut command, self.memory + ADDRESSES);
        let child = run.spawn_into(None, &mut command)?;
        // With it go our copies of the far ends: from now on the end of QEMU is the end of both.
        drop(command);
        let (sender, heard) = channel();
        let messages = port.try_clone().map_err(failed)?;
        let message = |message: Message| ChildLine::Report(FromGuest::Message(Box::new(message)));
        lines::pass_on("guest-messages", messages, LONGEST, sender.clone(), move |text| {
            lines::parse(text).map(message)
        });
        lines::pass_on("guest-console", console, 4096, sender, |text| {
            Some(ChildLine::Report(FromGuest::Console(text.to_owned())))
        });
        let mut running = Supervisor::new(child, Some(OwnedFd::from(port)), heard);
        let complaints = running.take_stderr().map(|stderr| {
            ramline_kernel::worker::spawn("guest-complaints", move || {
                let mut text = String::new();
                drop(stderr.take(16 << 10).read_to_string(&mut text));
                text
            })
        });
        Ok((running, complaints))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_gives_a_guest_no_network_and_a_name_with_a_comma_stays_a_name() {
        let guest = Guest {
            kernel: "/k".into(),
            initrd: "/i".into(),
            memory: Bytes::from_mib(256),
            cpus: 1,
            accel: Accel::Tcg,
            code: Some("/a,b/code".into()),
            swap: None,
        };
        let text = guest.arguments().join(" ");
        assert!(text.contains("-nic none") && text.contains("-m 262144k") && text.contains("-no-reboot"), "{text}");
        assert!(text.contains("read-only=on,file=/a,,b/code") && !text.contains(SWAP_DISK), "{text}");
        assert!(text.contains("rdinit=/init -- __guest"), "{text}");
    }
}
