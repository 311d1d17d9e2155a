import CommandSupport

/// Values of options and of the environment.
extension Mistake {
    private static let reading = Readings.heartRate(second: 0)
    static let values: [Mistake] = [
        Mistake(
            "window without unit", ["check", "--window", "5", "--strict"], 78, "'5' is not a length of time",
            at: "--window", "write a whole number and a unit, such as 500ms, 30s, 5m,"),
        Mistake(
            "window of other unit", ["check", "--window", "5min", "--strict"], 78, "'5min' is not a length of time",
            at: "--window", "write a whole number and a unit, such as 500ms, 30s, 5m,"),
        Mistake(
            "negative window", ["check", "--window=-5m", "--strict"], 78, "'-5m' is negative", at: "--window",
            "write a whole number and a unit, such as 500ms, 30s, 5m,"),
        Mistake(
            "negative window behind a blank", ["check", "--window", "-5m", "--strict"], 64,
            "Missing value for '--window <length>'", at: "'--window <length>'",
            "'-5m' begins as an option does: write --window=-5m if it is"),
        Mistake(
            "window of nothing", ["check", "--window", "0s", "--strict"], 78, "'0s' is too short", at: "--window",
            "write at least 1ms"),
        Mistake(
            "window of centuries", ["check", "--window", "99999999d", "--strict"], 78,
            "'99999999d' is no length that can be counted", at: "--window",
            "write at most 106751d (292 years), and units in order, each"),
        Mistake(
            "empty window", ["check", "--window", "", "--strict"], 78, "'' is not a length of time", at: "--window",
            "write a whole number and a unit, such as 500ms, 30s, 5m,"),
        Mistake(
            "lateness in words", ["check", "--lateness", "none", "--strict"], 78, "'none' is not a length of time",
            at: "--lateness", "write a whole number and a unit, such as 500ms, 30s, 5m,"),
        Mistake(
            "port without host", ["check", "--udp", "5757", "--strict"], 78,
            "'5757' is not an address to listen to: it has no port from 0 to 65535", at: "--udp",
            "write 127.0.0.1:5757 or [::1]:5757"),
        Mistake(
            "host by name", ["check", "--udp", "localhost:5757", "--strict"], 78, "'localhost:5757' names its host",
            at: "--udp", "write a numeric address, such as 127.0.0.1:5757, [::1]:5757"),
        Mistake(
            "port too large", ["check", "--udp", "127.0.0.1:99999", "--strict"], 78,
            "'127.0.0.1:99999' is not an address to listen to: it has no port from", at: "--udp",
            "write 127.0.0.1:5757 or [::1]:5757"),
        Mistake(
            "IPv6 without brackets", ["check", "--udp", "::1:5757", "--strict"], 78,
            "'::1:5757' is not an address to listen to", at: "--udp",
            "write an IPv4 address as 127.0.0.1:5757 and an IPv6 address"),
        Mistake(
            "address that is none", ["check", "--tcp", "300.0.0.1:5757", "--strict"], 78,
            "'300.0.0.1:5757' names its host", at: "--tcp",
            "write a numeric address, such as 127.0.0.1:5757, [::1]:5757"),
        Mistake(
            "TCP open to others", ["check", "--tcp", "0.0.0.0:5757", "--strict"], 78,
            "other machines can reach 0.0.0.0:5757, and TCP neither encrypts nor", at: "--tcp",
            "listen on 127.0.0.1 or [::1], name a certificateFile for TLS, or say insecure: true"),
        Mistake(
            "URL of another scheme",
            ["check", "--server", "htp://fhir.example/r4", "--server-identity", "create", "--strict"], 78,
            "is no URL of a server: its scheme is 'htp'", at: "--server", "begin with https:// (or http://)"),
        Mistake(
            "URL without scheme", ["check", "--server", "fhir.example/r4", "--server-identity", "create", "--strict"],
            78, "is no URL of a server: it has no scheme", at: "--server", "begin with https:// (or http://)"),
        Mistake(
            "server without identity", ["check", "--server", "https://fhir.example/r4", "--strict"], 78,
            "server.identity is not said, and there is no default", at: "--server",
            "write lookup when the server knows its Devices and"),
        Mistake(
            "unknown identity",
            ["check", "--server", "https://fhir.example/r4", "--server-identity", "lookups", "--strict"], 78,
            "'lookups' is not one of create, lookup, lookupWithEncounter", at: "--server-identity",
            "did you mean 'lookup'?"),
        Mistake(
            "unknown framing", ["check", "--stdin", "--framing", "newline", "--strict"], 78,
            "'newline' is not one of lines, nul, delimiter, length, slip, cobs,", at: "--framing", "write one of them"),
        Mistake(
            "framing without its size", ["check", "--stdin", "--framing", "length", "--strict"], 78,
            "'length' does not say how a length is written: u8, u16le, u16be,", at: "--framing",
            "write for instance length,u32be"),
        Mistake(
            "fixed framing without size", ["check", "--stdin", "--framing", "fixed", "--strict"], 78,
            "a number from 1 to 16777216 is missing", at: "--framing",
            "write for instance fixed,20 for payloads of 20 bytes"),
        Mistake(
            "option of a framing", ["check", "--stdin", "--framing", "length,u24", "--strict"], 78,
            "'u24' is not one of u8, u16le, u16be, u24le, u24be, u32le, u32be,", at: "--framing",
            "did you mean 'u24be'?"),
        Mistake(
            "unknown format", ["check", "--format", "xml", "--strict"], 78, "'xml' is not one of bundle, ndjson",
            at: "--format", "write one of them"),
        Mistake(
            "unknown version", ["check", "--fhir-version", "R6", "--strict"], 78,
            "'R6' is not one of R4, R4B, STU3, R5", at: "--fhir-version", "did you mean 'R4'?"),
        Mistake(
            "version in words of map", ["map", "--fhir-version", "4.0.1"], 78,
            "--fhir-version: '4.0.1' is not one of R4, R4B, STU3, R5", at: "--fhir-version", "write one of them"),
        Mistake(
            "compatibility of test", ["test", "--compatibility", "microsoft", "wristband"], 78,
            "--compatibility: 'microsoft' is not one of none, iomt-fhir", at: "--compatibility", "write one of them"),
        Mistake(
            "unknown time zone", ["check", "--stdin", "--timezone", "Europe/Berln", "--strict"], 78,
            "there is no time zone 'Europe/Berln'", at: "--timezone",
            "write a name such as Europe/Berlin or an offset such as"),
        Mistake(
            "abbreviated time zone", ["check", "--stdin", "--timezone", "CEST", "--strict"], 78,
            "there is no time zone 'CEST'", at: "--timezone", "write a name such as Europe/Berlin or an offset such as"),
        Mistake(
            "time zone of map", ["map", "--timezone", "Berlin", "-"], input: reading, 78,
            "--timezone: there is no time zone 'Berlin'", at: "--timezone",
            "write a name such as Europe/Berlin or an offset such as"),
        Mistake(
            "lanes in words", ["check", "--lanes", "many", "--strict"], 78, "'many' is not a whole number",
            at: "--lanes", "write a whole number from 1 to 256"),
        Mistake(
            "lanes out of range", ["check", "--lanes", "1000", "--strict"], 78, "'1000' is out of range", at: "--lanes",
            "write a whole number from 1 to 256"),
        Mistake(
            "processors in words", ["check", "--processors", "all", "--strict"], 78,
            "'all' is no processor, nor a range of them", at: "--processors",
            "write numbers from 0 to 1023 and ranges, such as 0-3,8"),
        Mistake(
            "processors backwards", ["check", "--processors", "3-0", "--strict"], 78,
            "'3-0' is no processor, nor a range of them", at: "--processors",
            "write numbers from 0 to 1023 and ranges, such as 0-3,8"),
        Mistake(
            "serial without speed", ["check", "--serial", "/dev/ttyUSB0", "--strict"], 78,
            "'/dev/ttyUSB0' is no serial line: it has no speed", at: "--serial",
            "write /dev/ttyUSB0:115200 or /dev/ttyUSB0:115200,8N1"),
        Mistake(
            "serial speed that is none", ["check", "--serial", "/dev/ttyUSB0:115201", "--strict"], 78,
            "'/dev/ttyUSB0:115201' is no serial line: 115201 is no speed of serial", at: "--serial",
            "usual ones are 9600, 57600 and 115200"),
        Mistake(
            "misspelt mapping", ["check", "--mapping", "wristbnad", "--strict"], 78, "no mapping is called 'wristbnad'",
            at: "--mapping", "did you mean 'wristband'? (a folder of your own needs a /"),
        Mistake(
            "folder without slash", ["check", "icu", "--strict"],
            files: ["icu/device.json": MappingText.device, "icu/fhir.json": MappingText.fhir], 78,
            "no mapping of the catalogue is called 'icu', but a folder here is", at: "--mapping",
            "did you mean './icu/'?"),
        Mistake(
            "folder that is not there", ["check", "--mapping", "./nowhere/", "--strict"], 78,
            "./nowhere/: no such folder", at: "--mapping", "a mapping is a folder with device.json and fhir.json"),
        Mistake(
            "file in place of a folder", ["check", "--mapping", "./icu/device.json", "--strict"],
            files: ["icu/device.json": MappingText.device, "icu/fhir.json": MappingText.fhir], 78,
            "./icu/device.json is a file", at: "--mapping", "name the folder that holds device.json and fhir.json"),
        Mistake(
            "mapping named twice", ["check", "--mapping", "reading", "--mapping", "reading", "--strict"], 78,
            "'reading' is named twice", at: "--mapping", "remove one"),
        Mistake(
            "configuration in place of a mapping", ["check", "kymo.yaml", "--strict"],
            files: ["kymo.yaml": "window: 5m\n"], 78, "'kymo.yaml' is a file, and no mapping", at: "--mapping",
            "name the folder of a mapping, with a / in its path, or the"),
        Mistake(
            "unknown variable", ["check", "--strict"], environment: ["KYMO_WINDWO": "5m"], 78,
            "no setting has this variable", at: "KYMO_WINDWO", "did you mean 'KYMO_WINDOW'?"),
        Mistake(
            "variable out of range", ["check", "--strict"], environment: ["KYMO_LANES": "0"], 78, "'0' is out of range",
            at: "KYMO_LANES", "write a whole number from 1 to 256"),
        Mistake(
            "bad expression", ["eval", "$.a["], input: "{}", 78, "the expression is wrong", at: "at byte 4",
            "expected an index, '*', a quoted name"),
        Mistake(
            "bad JMESPath", ["eval", "--language", "jmespath", "a.b("], input: "{}", 78,
            "the expression is wrong at byte 2: there is no function 'b'", at: "at byte 2", "did you mean 'abs'?"),
        Mistake(
            "unknown function of eval", ["eval", "--language", "jmespath", "sume(a)"], input: "{\"a\":[1]}", 78,
            "the expression is wrong at byte 0: there is no function 'sume'", at: "at byte 0", "did you mean 'sum'?"),
        Mistake(
            "function on a wrong type", ["eval", "--language", "jmespath", "add(a, `1`)"], input: "{\"a\":\"x\"}", 70,
            "the expression fails", at: "at byte 0", "function add expects argument 0 to be one of"),
    ]
}
