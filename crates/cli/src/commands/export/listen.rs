//! `export --listen`: the metrics over HTTP.

use std::net::SocketAddr;

use ramline_export::Form;
use ramline_serve::{Answer, Request, Server};

use super::readings::Readings;
use crate::prelude::*;

/// Who asks within this time gets the same reading: a hundred clients cost the machine one.
const SHARED: Duration = Duration::from_secs(1);

const PAGE: &str = "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>ramline export</title>\
<h1>ramline export</h1><p>Metrics of this machine's memory: <a href=\"/metrics\">/metrics</a></p>\
<p>What each means: docs/export.md, and <code>ramline explain</code> on this machine.</p></html>\n";

/// Answers until a signal comes.
///
/// # Errors
/// It cannot listen there.
pub fn listen(address: SocketAddr, mut readings: Readings<'_>) -> Result<u8> {
    signals::install();
    ramline_kernel::own_memory::one_heap();
    let failed =
        |error| Failure::refused(format!("listen at {address}: {error}\n  try: ramline export --listen 127.0.0.1:0"));
    let server = Server::bind(address).map_err(failed)?;
    // The first look is made before anybody waits for it.
    readings.read()?;
    output::tell(&format!("listening: http://{}/metrics (Ctrl-C ends it)", server.address()));
    let mut shared = Shared { readings, at: Instant::now(), texts: [None, None] };
    server.run(&mut |request| shared.answer(request))?;
    Ok(exit::DONE)
}

struct Shared<'a> {
    readings: Readings<'a>,
    at: Instant,
    /// The last reading in each form that was asked for.
    texts: [Option<Arc<[u8]>>; 2],
}

impl Shared<'_> {
    fn answer(&mut self, request: &Request) -> Answer {
        match request.path.as_str() {
            "/metrics" => self.metrics(request),
            "/" => Answer { status: 200, content_type: "text/html; charset=utf-8", body: PAGE.as_bytes().into() },
            _ => Answer::line(404, "there are /metrics and /"),
        }
    }

    fn metrics(&mut self, request: &Request) -> Answer {
        if self.at.elapsed() > SHARED {
            self.texts = [None, None];
            self.at = Instant::now();
            if let Err(error) = self.readings.read() {
                return Answer::line(500, &format!("{error:#}"));
            }
        }
        let open = request.accept.contains("application/openmetrics-text");
        let form = if open { Form::OpenMetrics } else { Form::Prometheus };
        let text = &mut self.texts[usize::from(open)];
        let body = text.get_or_insert_with(|| self.readings.last_as(form).unwrap_or_default().into_bytes().into());
        Answer { status: 200, content_type: form.content_type(), body: body.clone() }
    }
}
