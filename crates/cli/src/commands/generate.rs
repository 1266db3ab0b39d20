//! `ramline generate`: what a package installs beside the binary, and the schemas of all documents.

use std::fs;

use anyhow::Context;
use ramline_kernel::output::Format;
use ramline_view::schema;

use crate::prelude::*;
use crate::{complete, manual};

/// Write the man pages and shell completions of this version, or print its JSON schemas or metrics
#[derive(Debug, Args)]
pub struct Generate {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Write one man page a command into DIR
    Man {
        /// A directory, made where it is missing: /usr/local/share/man/man1
        dir: PathBuf,
    },
    /// Write the completions for bash, zsh and fish below DIR, each where its shell looks
    ///
    /// They are bash-completion/completions/ramline, zsh/site-functions/_ramline and fish/vendor_completions.d/ramline.fish.
    Completions {
        /// A directory, made where it is missing: /usr/local/share
        dir: PathBuf,
    },
    /// Print the JSON schema of one document, or of all in one, with shared definitions
    Schema {
        /// The document, for example show-memory: what `ramline show memory --json` prints
        #[arg(value_name = "DOCUMENT")]
        name: Option<String>,
    },
    /// Print the table of all metrics of `ramline export`, as Markdown
    Metrics,
}

impl Generate {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no such document, or a file cannot be written.
    pub fn run(&self, source: &Source) -> Result<u8> {
        source.must_be_live("generate")?;
        match &self.what {
            What::Man { dir } => {
                for (name, page) in manual::pages() {
                    write(&dir.join(name), &page)?;
                }
            }
            What::Completions { dir } => {
                for (path, script) in complete::SCRIPTS {
                    write(&dir.join(path), script)?;
                }
            }
            What::Metrics => output::text(&ramline_export::table())?,
            What::Schema { name: None } => output::json_text(schema::text())?,
            What::Schema { name: Some(name) } => {
                let unknown = || {
                    let (name, names) = (name.escape_debug(), schema::names().collect::<Vec<_>>().join(", "));
                    let text =
                        format!("there is no document '{name}'; there are: {names}\n  try: ramline generate schema");
                    Failure::usage(text)
                };
                let document = schema::document(name).ok_or_else(unknown)?;
                output::json_text(&(ramline_units::json::pretty(&document)? + "\n"))?;
            }
        }
        Ok(exit::DONE)
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir).with_context(|| format!("cannot make the directory {}", dir.display()))?;
    }
    let format = Format { begins: b"", mode: 0o644 };
    place::open(path, format, "ramline generate man DIR")?.write(text.as_bytes())?;
    Ok(())
}
