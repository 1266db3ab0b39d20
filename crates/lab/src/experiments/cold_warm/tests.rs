use super::*;

fn params(set: &[(&str, &[&str])]) -> Params {
    let table = EXPERIMENT.table();
    let mut params = EXPERIMENT.defaults();
    for (name, values) in set {
        params.set(&table, name, values.iter().map(|value| (*value).to_owned()).collect()).unwrap();
    }
    params
}

#[test]
fn exactly_one_thing_is_run() {
    assert_eq!(subject(&params(&[("size", &["1MiB"])])).unwrap(), Subject::Size(Bytes::from_mib(1)));
    let command = subject(&params(&[("command", &["a", "-b"]), ("files", &["/l"])])).unwrap();
    assert_eq!(command, Subject::Command { argv: vec!["a".into(), "-b".into()], list: Some("/l".into()) });
    let bad: [&[(&str, &[&str])]; 5] = [
        &[],
        &[("files", &["/l"])],
        &[("file", &["/x"]), ("size", &["1MiB"])],
        &[("command", &["a"]), ("file", &["/x"])],
        &[("size", &["4KiB"])],
    ];
    for set in bad {
        assert!(subject(&params(set)).unwrap_err().to_string().contains("try: ramline lab run cold-warm"), "{set:?}");
    }
}

#[test]
fn a_commands_files_are_not_written_anew() {
    let names = |asked: &[&str], is_command| {
        let asked: Vec<String> = asked.iter().map(|name| (*name).to_owned()).collect();
        arms(&asked, is_command).map(|arms| arms.into_iter().map(|arm| arm.name).collect::<Vec<_>>())
    };
    assert_eq!(names(&[], true).unwrap(), ["warm", "half-warm", "cold"]);
    assert_eq!(names(&[], false).unwrap(), ["warm", "fresh", "half-warm", "cold"]);
    assert_eq!(names(&["cold", "cold"], true).unwrap(), ["cold"]);
    assert!(names(&["fresh"], true).unwrap_err().to_string().contains("is for files"));
    assert!(names(&["lukewarm"], false).unwrap_err().to_string().contains("warm, fresh, half-warm, cold"));
}

#[test]
fn a_program_that_is_not_there_is_refused_before_anything_starts() {
    let Err(error) = open(&Root::live(), &params(&[("command", &["no-such-program"])])) else { panic!("opened") };
    assert!(error.to_string().contains("there is no program 'no-such-program'"), "{error}");
}
