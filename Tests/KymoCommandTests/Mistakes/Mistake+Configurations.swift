/// Configuration files.
extension Mistake {
    static let configurations: [Mistake] = [
        configuration(
            "documents beside STU3", "output:\n  fhirVersion: STU3\n  attachOver: 64KiB\n", 78,
            "Observations of FHIR STU3 refer to no documents", at: "kymo.yaml:3:15",
            "write 0, or set output.fhirVersion to R4"),
        configuration(
            "documents beside the profile phd",
            "output:\n  profile: phd\n  gateway: FE-ED-AB-EE-DE-AD-77-C3\n  attachOver: 64KiB\n", 78,
            "the profile phd has samples in their Observation", at: "kymo.yaml:4:15",
            "write 0, or leave output.profile out"),
        configuration(
            "documents under the rules of the reference", "compatibility: iomt-fhir\noutput:\n  attachOver: 64KiB\n",
            78, "it has no effect with compatibility iomt-fhir", at: "kymo.yaml:3:15",
            "leave it out: samples are merged with those that the server has"),
        configuration(
            "documents over no size", "output:\n  attachOver: large\n", 78, "'large' is not a size",
            at: "kymo.yaml:2:15", "write a whole number of bytes"),
        .configuration(
            "misspelt key", "windw: 5m\n", 78, "unknown key 'windw'", at: "kymo.yaml:1:1", "did you mean 'window'?"),
        .configuration(
            "key at the wrong level", "format: bundle\n", 78, "unknown key 'format'", at: "kymo.yaml:1:1",
            "did you mean 'format' under 'output'?"),
        .configuration(
            "key of another program", "port: 5757\n", 78, "unknown key 'port'", at: "kymo.yaml:1:1",
            "the keys here are window, lateness, idle, lateHold,"),
        .configuration(
            "key in other case", "DeadLetter: x\n", 78, "unknown key 'DeadLetter'", at: "kymo.yaml:1:1",
            "did you mean 'deadLetter'?"),
        .configuration(
            "key given twice", "window: 5m\nwindow: 1m\n", 78, "given more than once: 'window'", at: "kymo.yaml:1:1",
            "keep one of each; this is the first"),
        .configuration(
            "tab", "output:\n\tto: stdout\n", 78, "not valid YAML: found character that cannot start any token while",
            at: "kymo.yaml:2:1", "indent with blanks, not with tabs"),
        .configuration(
            "unclosed list", "mappings: [a, b\n", 78,
            "not valid YAML: did not find expected ',' or ']' while parsing a flow", at: "kymo.yaml:2:1",
            "check indentation, quotes and brackets just before"),
        .configuration(
            "missing colon", "window 5m\n", 78, "the file: expected keys and values, found text", at: "kymo.yaml:1:1",
            "write one 'key: value' a line"),
        .configuration(
            "unclosed quote", "data: \"/var/lib/kymo\n", 78,
            "not valid YAML: found unexpected end of stream while scanning a", at: "kymo.yaml:2:1",
            "check indentation, quotes and brackets just before"),
        .configuration(
            "two documents", "window: 5m\n---\nlanes: 1\n", 78, "not valid YAML: but found another document",
            at: "kymo.yaml:2:1", "keep one document; remove what follows the second '---'"),
        .configuration(
            "alias without anchor", "window: *w\n", 78, "not valid YAML: found undefined alias", at: "kymo.yaml:1:9",
            "define the anchor before its alias"),
        .configuration(
            "no value", "lanes:\n", 78, "lanes: no value is given", at: "kymo.yaml:1:7",
            "write a whole number from 1 to 256, or auto, or remove the"),
        .configuration(
            "list for a value", "window: [5m]\n", 78, "window: found a list", at: "kymo.yaml:1:9",
            "write a length of time"),
        .configuration(
            "text for keys", "output: stdout\n", 78, "output: expected keys and values, found text",
            at: "kymo.yaml:1:9", "write one 'key: value' a line, indented"),
        .configuration(
            "keys for a list", "sources:\n  udp: 127.0.0.1:5757\n", 78,
            "sources: expected a list, found keys and values", at: "kymo.yaml:2:3",
            "begin each source with '- ', as in '- udp: 127.0.0.1:5757'"),
        .configuration(
            "list at the top", "- window: 5m\n", 78, "the file: expected keys and values, found a list",
            at: "kymo.yaml:1:1", "write one 'key: value' a line"),
        .configuration(
            "duration without unit (configuration)", "window: 300\n", 78, "window: '300' is not a length of time",
            at: "kymo.yaml:1:9", "write a whole number and a unit, such as 500ms, 30s, 5m,"),
        .configuration(
            "duration with fraction", "lateness: 1.5m\n", 78, "lateness: '1.5m' is not a length of time",
            at: "kymo.yaml:1:11", "write a whole number and a unit, such as 500ms, 30s, 5m,"),
        .configuration(
            "size in MB", "output:\n  maxBytes: 1MB\n", 78, "output.maxBytes: '1MB' is not a size",
            at: "kymo.yaml:2:13", "write a whole number of bytes, or one with KiB, MiB or GiB,"),
        .configuration(
            "size out of range", "output:\n  maxBytes: 2GiB\n", 78, "output.maxBytes: '2GiB' is out of range",
            at: "kymo.yaml:2:13", "write a size from 1 to 1GiB"),
        .configuration(
            "no power of two", "ringSlots: 1000\n", 78, "ringSlots: '1000' is not a power of two", at: "kymo.yaml:1:12",
            "write 512 or 1024"),
        .configuration(
            "yes for true", "watch: yes\n", 78, "watch: 'yes' is not one of true, false", at: "kymo.yaml:1:8",
            "write one of them"),
        .configuration(
            "unknown choice", "identity: patient\n", 78, "identity: 'patient' is not one of device, strict",
            at: "kymo.yaml:1:11", "write one of them"),
        .configuration(
            "relative system", "output:\n  systems:\n    device: devices\n", 78,
            "output.systems.device: 'devices' is not an absolute URI", at: "kymo.yaml:3:13",
            "write one with a scheme, such as"),
        .configuration(
            "two sources in one", "sources:\n  - udp: 127.0.0.1:1\n    unix: a.sock\n", 78,
            "sources[0]: 'unix' is given besides 'udp'", at: "kymo.yaml:3:5",
            "make them two sources, each with a '- ' of its own"),
        .configuration(
            "source without kind", "sources:\n  - mappings: reading\n", 78, "sources[0]: nothing to listen to is named",
            at: "kymo.yaml:2:5", "add one of udp, tcp, http, mllp, mqtt, kafka, unix, seqpacket, unixgram,"),
        .configuration(
            "unknown key of a source", "sources:\n  - udp: 127.0.0.1:1\n    port: 5757\n", 78,
            "sources[0]: unknown key 'port'", at: "kymo.yaml:3:5",
            "the keys of a source are udp, tcp, http, mllp, mqtt, kafka, unix, seqpacket,"
        ),
        .configuration(
            "source twice", "sources:\n  - udp: 127.0.0.1:5757\n  - udp: 127.0.0.1:5757\n", 78,
            "sources[1].udp: two sources have udp 127.0.0.1:5757", at: "kymo.yaml:3:10",
            "remove one, or choose another address"),
        .configuration(
            "port out of range", "sources:\n  - tcp: 127.0.0.1:70000\n", 78,
            "sources[0].tcp: '127.0.0.1:70000' is not an address to listen to: it", at: "kymo.yaml:2:10",
            "write 127.0.0.1:5757 or [::1]:5757"),
        .configuration(
            "mode that is none", "sources:\n  - unix: a.sock\n    socketMode: rw\n", 78,
            "sources[0].socketMode: 'rw' is not a file mode", at: "kymo.yaml:3:17",
            "write an octal number, such as \"0660\""),
        .configuration(
            "empty mappings", "mappings: []\n", 78, "mappings: the list is empty", at: "kymo.yaml:1:11",
            "name at least one, or remove the key"),
        .configuration(
            "unknown mapping", "mappings: [raeding]\n", 78, "mappings: no mapping is called 'raeding'",
            at: "kymo.yaml:1:12", "did you mean 'reading'? (a folder of your own needs a / in"),
        .configuration(
            "server and sinks", "server:\n  url: https://a.example/r4\n  identity: create\nsinks:\n  - to: stdout\n",
            78, "server.identity: it is given besides sinks", at: "kymo.yaml:3:13",
            "make it an element of sinks, or remove sinks"),
        .configuration(
            "sink without kind", "sinks:\n  - types: [heartRate]\n", 78,
            "sinks[0]: it says neither where bundles go nor to which server", at: "kymo.yaml:2:5",
            "add one of to, server"),
        .configuration(
            "unknown key of a sink", "sinks:\n  - to: stdout\n    type: heartRate\n", 78,
            "sinks[0]: unknown key 'type'", at: "kymo.yaml:3:5", "did you mean 'types'?"),
        .configuration(
            "server URL", "server:\n  url: htp://fhir.example/r4\n  identity: create\n", 78,
            "server.url: is no URL of a server: its scheme is 'htp'", at: "kymo.yaml:2:8",
            "begin with https:// (or http://)"),
        .configuration(
            "authorization without token",
            "server:\n  url: https://a.example/r4\n  identity: create\n  authorization: bearer\n", 78,
            "server.authorization: the authorization bearer needs server.tokenFile", at: "kymo.yaml:4:18", "add it"),
        .configuration(
            "secret in the file", "server:\n  url: https://a.example/r4\n  identity: create\n  token: abc\n", 78,
            "unknown key 'server.token'", at: "kymo.yaml:4:3",
            "the keys here are url, identity, authorization, tokenFile,"),
        .configuration(
            "time zone of a source", "sources:\n  - stdin: true\n    timezone: Mars/Olympus\n", 78,
            "sources[0].timezone: there is no time zone 'Mars/Olympus'", at: "kymo.yaml:3:15",
            "write a name such as Europe/Berlin or an offset such as"),
        .configuration(
            "compression without a directory", "output:\n  compression: zstd\n", 78,
            "output.compression: it has no effect on stdout", at: "kymo.yaml:2:16", "name a directory as output.to"),
        .configuration(
            "cut JSON", "{\"window\": \"5m\"", 78,
            "not valid YAML: did not find expected ',' or '}' while parsing a flow", at: "kymo.yaml:1:16",
            "check indentation, quotes and brackets just before"),
        .configuration(
            "empty systems", "output:\n  systems: \"\"\n", 78, "output.systems: expected keys and values, found text",
            at: "kymo.yaml:2:12", "write one 'key: value' a line, indented"),
        Mistake(
            "configuration in UTF-16", ["check", "--config", "kymo.yaml", "--strict"],
            bytes: [
                "kymo.yaml": [
                    255, 254, 119, 0, 105, 0, 110, 0, 100, 0, 111, 0, 119, 0, 58, 0, 32, 0, 53, 0, 109, 0, 10, 0,
                ]
            ], 78, "the file is not UTF-8 here", at: "kymo.yaml:1:1", "save the file as UTF-8"),
        Mistake(
            "configuration that is not UTF-8", ["check", "--config", "kymo.yaml", "--strict"],
            bytes: [
                "kymo.yaml": [
                    100, 97, 116, 97, 58, 32, 47, 118, 97, 114, 47, 108, 105, 98, 47, 104, 228, 117, 115, 101, 114, 10,
                ]
            ], 78, "the file is not UTF-8 here", at: "kymo.yaml:1:17", "save the file as UTF-8"),
        Mistake(
            "configuration missing", ["check", "--config", "nowhere.yaml", "--strict"], 66,
            "nowhere.yaml cannot be read: there is no such file", at: "nowhere.yaml",
            "name a YAML or JSON file with --config"),
        Mistake(
            "configuration is a folder", ["check", "--config", "./conf", "--strict"],
            files: ["conf/kymo.yaml": "window: 5m\n"], 66, "./conf cannot be read: it is a folder", at: "./conf",
            "name a YAML or JSON file with --config"),
        Mistake(
            "configuration not readable", ["check", "--config", "kymo.yaml", "--strict"],
            files: ["kymo.yaml": "window: 5m\n"], locked: ["kymo.yaml"], needs: [.ordinaryUser], 77,
            "kymo.yaml cannot be read: permission denied", at: "kymo.yaml",
            "let this user read it (chmod, chown), or run kymo as its"),
    ]
}
