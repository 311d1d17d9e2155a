import CommandSupport

/// Configuration files whose text says something else than what was meant.
extension Mistake {
    static let layouts: [Mistake] = [
        .configuration(
            "home of a shell", "data: ~/kymo\n", 78, "data: '~/kymo' is not below your home directory",
            at: "kymo.yaml:1:7", "write ${HOME}/kymo in a file, or ./~/kymo"),
        .configuration(
            "variable of a shell", "output:\n  to: $HOME/fhir\n", 78, "output.to: '$HOME/fhir' has no variable",
            at: "kymo.yaml:2:7", "write ${HOME}/fhir in a file, or ./$HOME/fhir"),
        .configuration(
            "home of a shell (source)", "sources:\n  - unix: ~/kymo.sock\n", 78,
            "sources[0].unix: '~/kymo.sock' is not below your home directory", at: "kymo.yaml:2:11",
            "write ${HOME}/kymo.sock in a file, or ./~/kymo.sock"),
        Mistake(
            "home of a shell (flag)", ["check", "--data=~/kymo"], 78, "'~/kymo' is not below your home directory",
            at: "--data", "only shells know what '~' is"),
        .configuration(
            "quotation marks of a word processor", "data: \u{201C}store\u{201D}\n", 78,
            "data: \u{201C} is a part of the value: it is no quotation mark of YAML", at: "kymo.yaml:1:7",
            "write \" or ' around the value, or nothing"),
        .configuration(
            "no-break spaces", "output:\n\u{A0}\u{A0}to: out\n", 78, "unknown key '\u{A0}\u{A0}to'",
            at: "kymo.yaml:2:1", "it has a blank of another kind in it (U+00A0): write blanks of the keyboard"),
        .configuration(
            "list one level too deep", "output:\n  sources:\n    - udp: 127.0.0.1:1\n", 78,
            "unknown key 'output.sources'", at: "kymo.yaml:2:3",
            "write it at the left margin, and not under 'output'"),
        .configuration(
            "section one level too deep", "output:\n  server:\n    url: https://a.example/r4\n", 78,
            "unknown key 'output.server'", at: "kymo.yaml:2:3", "write it at the left margin, and not under 'output'"),
        .configuration(
            "source at the top", "udp: 127.0.0.1:5757\n", 78, "unknown key 'udp'", at: "kymo.yaml:1:1",
            "begin a line under 'sources:' with '- udp: '"),
        .configuration(
            "key of a source at the top", "defaultDevice: bed\n", 78, "unknown key 'defaultDevice'",
            at: "kymo.yaml:1:1", "it is a key of a source: write it under the element of sources that it is for"),
        .configuration(
            "singular of a list", "source:\n  udp: 127.0.0.1:1\n", 78, "unknown key 'source'", at: "kymo.yaml:1:1",
            "did you mean 'sources'?"),
        .configuration(
            "keys for a list of sinks", "sinks:\n  to: stdout\n", 78,
            "sinks: expected a list, found keys and values", at: "kymo.yaml:2:3",
            "begin each sink with '- ', as in '- to: /var/lib/kymo/bundles'"),
        .configuration(
            "uneven indentation", "output:\n    to: stdout\n  format: ndjson\n", 78,
            "not valid YAML: did not find expected key while parsing a block", at: "kymo.yaml:3:3",
            "check indentation, quotes and brackets just before"),
        .configuration(
            "no blank behind the colon", "window:5m\n", 78, "the file: expected keys and values, found text",
            at: "kymo.yaml:1:1", "write one 'key: value' a line, with a blank behind the colon"),
        .configuration(
            "key given twice in a section", "output:\n  to: a\n  to: b\n", 78, "given more than once: 'to'",
            at: "kymo.yaml:2:3", "keep one of each; this is the first"),
        .configuration(
            "section given twice", "output: {to: a}\noutput: {format: ndjson}\n", 78,
            "given more than once: 'output'", at: "kymo.yaml:1:1", "keep one of each; this is the first"),
        .configuration(
            "zero byte", "window: 1m\u{0}\n", 78, "not valid YAML: control characters are not allowed",
            at: "kymo.yaml:1:11", "remove the character"),
        .configuration(
            "unit behind a blank", "window: 5 min\n", 78, "window: '5 min' is not a length of time",
            at: "kymo.yaml:1:9", "such as 500ms, 30s, 5m, 1h"),
        .configuration(
            "minutes as in a clock", "window: 00:05:00\n", 78, "window: '00:05:00' is not a length of time",
            at: "kymo.yaml:1:9", "such as 500ms, 30s, 5m, 1h"),
        .configuration(
            "capital unit", "window: 5M\n", 78, "window: '5M' is not a length of time", at: "kymo.yaml:1:9",
            "such as 500ms, 30s, 5m, 1h"),
        .configuration(
            "size with a blank", "store:\n  maxBytes: 10 GB\n", 78, "store.maxBytes: '10 GB' is not a size",
            at: "kymo.yaml:2:13", "or one with KiB, MiB or GiB"),
        .configuration(
            "size below zero", "store: {maxBytes: -1}\n", 78, "store.maxBytes: '-1' is not a size",
            at: "kymo.yaml:1:19", "write a whole number of bytes"),
        .configuration(
            "true for a number", "lanes: true\n", 78, "lanes: 'true' is not a whole number", at: "kymo.yaml:1:8",
            "write a whole number from 1 to 256"),
        .configuration(
            "fraction for a number", "lanes: 2.0\n", 78, "lanes: '2.0' is not a whole number", at: "kymo.yaml:1:8",
            "write a whole number from 1 to 256"),
        .configuration(
            "file that includes itself", "include: kymo.yaml\n", 78, "a file includes itself: kymo.yaml → kymo.yaml",
            at: "kymo.yaml:1:10", "remove one of these includes"),
        .configuration(
            "included file missing", "include: other.yaml\n", 78, "other.yaml cannot be read: No such file",
            at: "kymo.yaml:1:10", "name a file that is there"),
        Mistake(
            "included folder", ["check", "--config", "kymo.yaml"],
            files: ["kymo.yaml": "include: conf.d\n", "conf.d/a.yaml": "window: 1m\n"], 78, "conf.d is a folder",
            at: "kymo.yaml:1:10", "name its files, such as conf.d/*.yaml"),
        .configuration(
            "variable that is not set", "data: ${KYMO_HOUSE}\n", 78, "data: the variable KYMO_HOUSE is not set",
            at: "kymo.yaml:1:7", "set it in the environment, or write ${KYMO_HOUSE:-default}"),
        .configuration(
            "variable without an end", "data: ${HOME\n", 78, "data: '${' has no '}'", at: "kymo.yaml:1:7",
            "add it, or write $${ for '${'"),
        Mistake(
            "configuration that is a device", ["check", "--config", "/dev/null"], 66,
            "/dev/null cannot be read: it is a pipe, a device or a socket, and no file", at: "/dev/null",
            "name a YAML or JSON file with --config"),
        Mistake(
            "configuration without a name", ["check", "--config", ""], 66,
            "a file without a name cannot be read: there is no such file", at: "--config",
            "name a YAML or JSON file with --config"),
        Mistake(
            "output to a device", ["run", "--stdin", "--out", "/dev/full"], input: Readings.heartRate(second: 0), 73,
            "cannot open the directory /dev/full: Not a directory", at: "/dev/full",
            "it, or what is above it, is a file: choose another name"),
        Mistake(
            "watch without a file", ["check", "--watch-config", "--strict"], 78,
            "it has no effect without a configuration file", at: "--watch-config", "name one with --config"),
    ]
}
