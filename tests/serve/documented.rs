//! The requests of docs/serve.md are answered as it says.

use std::process::Command;

use serde_json::Value;

use crate::client::Server;

tests! {
    the_requests_of_the_documentation_are_answered_as_it_says,
}

/// Removes what differs from run to run.
fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for key in ["seconds", "computing_times"] {
                fields.remove(key);
            }
            fields.values_mut().for_each(strip);
        }
        Value::Array(values) => values.iter_mut().for_each(strip),
        _ => {}
    }
}

fn the_requests_of_the_documentation_are_answered_as_it_says() {
    let page = include_str!("../../docs/serve.md");
    if Command::new("curl").arg("--version").output().is_err() {
        return crate::harness::ignore("there is no curl");
    }
    let server = Server::start(&[]);
    let blocks: Vec<&str> = page.split("```").skip(1).step_by(2).collect();
    let mut run = 0;
    for (at, block) in blocks.iter().enumerate() {
        let Some(lines) = block.strip_prefix("sh\n").filter(|lines| lines.starts_with("curl ")) else {
            continue;
        };
        let line = lines.replace("127.0.0.1:3000", &server.address.to_string());
        let output = Command::new("sh").args(["-c", &line]).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        run += 1;
        let Some(shown) = blocks.get(at + 1).and_then(|next| next.strip_prefix("json\n")) else { continue };
        let mut found: Value =
            serde_json::from_str(&said).unwrap_or_else(|error| panic!("{line}: {error}: {said}"));
        let mut shown: Value = serde_json::from_str(shown).unwrap_or_else(|error| panic!("{error}: {shown}"));
        strip(&mut found);
        strip(&mut shown);
        assert_eq!(found, shown, "{line}\n{said}");
    }
    assert!(run >= 6, "{run} requests");
    // None is outside a block that is run.
    assert_eq!(page.matches("curl ").count(), run + page.matches("`curl ").count());
}
