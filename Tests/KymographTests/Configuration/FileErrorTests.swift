import Kymograph
import KymographTemplates
import Testing

/// Every kind of error in the file, with its place and its advice.
@Suite struct FileErrorTests {
    @Test(arguments: [
        ("windw: 5m", "1:1: error: unknown key 'windw'; did you mean 'window'?"),
        (
            "a: 1\nlanes: 2",
            "1:1: error: unknown key 'a'; the keys here are window, lateness, idle, lateHold, maxFuture, "
                + "identity, "
                + "mappings, deviceMapping, fhirMapping, framing, compatibility, watch, watchConfig, patients, "
                + "patientConflict, unmapped, rules, output, deadLetter, receipts, receiptSocket, server, "
                + "data, ephemeral, encryption, store, audit, http, console, search, limits, "
                + "lanes, shards, processors, wait, fastPath, ringSlots, drain, coreDumps, sandbox, log, "
                + "sources, "
                + "sinks, include"
        ),
        ("output:\n  fromat: bundle", "2:3: error: unknown key 'output.fromat'; did you mean 'format'?"),
        ("format: bundle", "1:1: error: unknown key 'format'; did you mean 'format' under 'output'?"),
        ("lineBytes: 1", "1:1: error: unknown key 'lineBytes'; did you mean 'lineBytes' under 'limits'?"),
        ("output.format: bundle", "1:1: error: unknown key 'output.format'; did you mean 'format' under 'output'?"),
        (
            "output: {systems: {pateint: urn:x:y}}",
            "1:20: error: unknown key 'output.systems.pateint'; did you mean 'patient'?"
        ),
        ("deadletter: x", "1:1: error: unknown key 'deadletter'; did you mean 'deadLetter'?"),
        ("[1, 2]: x", "1:1: error: the file: a key must be text, found a list"),
    ])
    func unknownKeys(file: String, message: String) {
        #expect(messages(file) == ["kymo.yaml:\(message)"])
    }

    /// The Personal Health Devices guide cannot be followed by everything.
    @Test(arguments: [
        (
            "",
            "1:19: error: output.profile: the profile phd needs to know this gateway; set output.gateway to its EUI-64"
        ),
        (
            ", gateway: g, fhirVersion: R5",
            "1:49: error: output.fhirVersion: the profile phd is of FHIR R4; set output.fhirVersion to R4"
        ),
        (
            ", gateway: g, format: ndjson",
            "1:44: error: output.format: the profile phd needs references within bundles; set output.format to bundle"
        ),
        (
            ", gateway: g, bundle: batch",
            "1:44: error: output.bundle: the profile phd needs references within bundles; "
                + "set output.bundle to transaction"
        ),
    ])
    func personalHealthDevices(members: String, message: String) {
        #expect(messages("output: {profile: phd\(members)}") == ["kymo.yaml:\(message)"])
        #expect(messages("output: {profile: phd, gateway: g, fhirVersion: R4B, bundle: collection}") == [])
    }

    @Test(arguments: [
        ("window:\n  - 5m", "2:3: error: window: found a list; write a length of time"),
        (
            "output:\n  format: {a: b}",
            "2:11: error: output.format: found keys and values; write bundle or ndjson"
        ),
        (
            "lanes:",
            "1:7: error: lanes: no value is given; write a whole number from 1 to 256, or auto, or remove the key"
        ),
        (
            "lanes: ~",
            "1:8: error: lanes: no value is given; write a whole number from 1 to 256, or auto, or remove the key"
        ),
        (
            "output: stdout",
            "1:9: error: output: expected keys and values, found text; write one 'key: value' a line, indented"
        ),
        ("- window: 5m", "1:1: error: the file: expected keys and values, found a list; write one 'key: value' a line"),
        ("hello", "1:1: error: the file: expected keys and values, found text; write one 'key: value' a line"),
        (
            "mappings: {a: b}",
            "1:11: error: mappings: found keys and values; write a mapping's name or folder, or a list of them"
        ),
        ("mappings: []", "1:11: error: mappings: the list is empty; name at least one, or remove the key"),
        ("mappings: [a, [b]]", "1:15: error: mappings: found a list in the list; write a mapping's name or folder"),
    ])
    func wrongKinds(file: String, message: String) {
        #expect(messages(file) == ["kymo.yaml:\(message)"])
    }

    @Test(arguments: [
        (
            "window: 5",
            "1:9: error: window: '5' is not a length of time; write a whole number and a unit, such as 500ms, "
                + "30s, 5m, 1h, 1d or 1h30m"
        ),
        (
            "window: -5m",
            "1:9: error: window: '-5m' is negative; write a whole number and a unit, such as "
                + "500ms, 30s, 5m, 1h, 1d or 1h30m"
        ),
        (
            "window: 99999999d",
            "1:9: error: window: '99999999d' is no length that can be counted; write at most 106751d (292 years), "
                + "and units in order, each once: 1h30m"
        ),
        ("window: 0s", "1:9: error: window: '0s' is too short; write at least 1ms"),
        ("output:\n  rotateAge: 0s", "2:14: error: output.rotateAge: '0s' is too short; write at least 1ms"),
        (
            "output: {maxBytes: 1MB}",
            "1:20: error: output.maxBytes: '1MB' is not a size; write a whole number of bytes, or "
                + "one with KiB, MiB or GiB, such as 64KiB"
        ),
        (
            "output: {maxBytes: 2GiB}",
            "1:20: error: output.maxBytes: '2GiB' is out of range; write a size from 1 to 1GiB"
        ),
        ("lanes: 0", "1:8: error: lanes: '0' is out of range; write a whole number from 1 to 256"),
        ("lanes: -1", "1:8: error: lanes: '-1' is out of range; write a whole number from 1 to 256"),
        ("lanes: two", "1:8: error: lanes: 'two' is not a whole number; write a whole number from 1 to 256"),
        ("lanes: 1.0", "1:8: error: lanes: '1.0' is not a whole number; write a whole number from 1 to 256"),
        (
            "limits: {depth: 1025}",
            "1:17: error: limits.depth: '1025' is out of range; write a whole number from 1 to 1024"
        ),
        ("ringSlots: 1000", "1:12: error: ringSlots: '1000' is not a power of two; write 512 or 1024"),
        (
            "ringSlots: 256",
            "1:12: error: ringSlots: '256' is out of range; write a whole number from 512 to 16777216"
        ),
        (
            "identity: patient",
            "1:11: error: identity: 'patient' is not one of device, strict; write one of them"
        ),
        (
            "output: {write: 'PUT'}",
            "1:17: error: output.write: 'PUT' is not one of put, conditional-create, conditional-update; "
                + "did you mean 'put'?"
        ),
        ("deadLetter: ''", "1:13: error: deadLetter: the value is empty; write a file"),
        ("output: {to: \"\"}", "1:14: error: output.to: the value is empty; write a directory, or stdout"),
        ("mappings: [a, b, a]", "1:18: error: mappings: 'a' is named twice; remove one"),
        ("mappings: ['']", "1:12: error: mappings: a name is empty; write a mapping's name or folder"),
    ])
    func badValues(file: String, message: String) {
        #expect(messages(file) == ["kymo.yaml:\(message)"])
    }

    @Test(arguments: ["devices", "urn:", ":x", "1a:b", "urn:a b", "urn:ä", "//host/path", "http://a/{b}"])
    func relativeSystems(text: String) {
        let advice = "write one with a scheme, such as https://example.org/devices or urn:example:device"
        #expect(
            messages("output:\n  systems:\n    device: '\(text)'") == [
                "kymo.yaml:3:13: error: output.systems.device: '\(text)' is not an absolute URI; \(advice)"
            ])
    }

    @Test func onePatientSystemForPatientsAndWearers() {
        #expect(
            messages("output:\n  systems:\n    patient: urn:kymograph:device-subject\n") == [
                "kymo.yaml:3:14: error: output.systems.patient: patient and deviceSubject have one identifier system; "
                    + "give them two, or a patient and the wearer of a device of the same number become one person"
            ])
    }

    @Test(arguments: [
        (
            "window: [5m",
            "1:12: error: not valid YAML: did not find expected ',' or ']' while parsing a flow sequence that "
                + "began in line 1; check indentation, quotes and brackets just before"
        ),
        (
            "window: 5m\n\tlanes: 1",
            "2:1: error: not valid YAML: found a tab character that violates indentation while scanning a plain scalar "
                + "that began in line 1; indent with blanks, not with tabs"
        ),
        (
            "window: 5m\nlanes 1\n",
            "3:1: error: not valid YAML: could not find expected ':' while scanning a simple key "
                + "that began in line 2; check indentation, quotes and brackets just before"
        ),
        ("window: *a", "1:9: error: not valid YAML: found undefined alias; define the anchor before its alias"),
        (
            "window: 5m\n---\nlanes: 1",
            "2:1: error: not valid YAML: but found another document; keep one document; remove "
                + "what follows the second '---'"
        ),
        (
            "lanes: 1\nwindow: 5m\nlanes: 2\n",
            "1:1: error: given more than once: 'lanes'; keep one of each; this is the first"
        ),
        ("window: \u{1}", "1:9: error: not valid YAML: control characters are not allowed; remove the character"),
    ])
    func syntax(file: String, message: String) {
        #expect(messages(file) == ["kymo.yaml:\(message)"])
    }

    @Test func notUTF8() {
        let input = ConfigurationInput(file: (name: "kymo.yaml", bytes: Array("lanes: 1\n# ".utf8) + [0xFF, 0x0A]))
        #expect(
            ConfigurationLoader.load(input).diagnostics.map(\.text) == [
                "kymo.yaml:2:3: error: the file is not UTF-8 here; save the file as UTF-8"
            ])
    }

    /// Columns count bytes, as editors' jump-to-error does, though YAML counts characters.
    @Test func columnsCountBytes() {
        #expect(
            messages("output: {to: \"/häuser/é\", format: x}\n") == [
                "kymo.yaml:1:37: error: output.format: 'x' is not one of bundle, ndjson; write one of them"
            ])
        #expect(messages("# one\r\n# two\r\nlanes: 0\r\n").first?.hasPrefix("kymo.yaml:3:8: ") == true)
    }

    @Test func allErrorsAreReported() {
        let file = "window: x\nlanes: 0\noutput:\n  format: y\n  bundel: batch\nsources:\n  - udp: z\n  - {}\nbad: 1\n"
        let places = load(file).diagnostics.map { "\($0.position.line):\($0.position.column)" }
        #expect(places == ["1:9", "2:8", "4:11", "5:3", "7:10", "8:5", "9:1"])
    }

    @Test func anErrorLeavesTheDefault() {
        let settings = load("lanes: 0\nwindow: x\nmappings: [a, a]").settings
        #expect(settings.lanes == 0 && settings.window == 300_000_000_000 && settings.mappings == ["reading"])
        #expect(settings.origins.isEmpty)
    }

    /// An alias of aliases of aliases must not cost more than the text it is.
    @Test func aliasesOfAliasesAreCheap() {
        var file = "a0: &a0 [x]\n"
        for level in 1..<40 { file += "a\(level): &a\(level) [*a\(level - 1), *a\(level - 1), *a\(level - 1)]\n" }
        #expect(messages(file).count == 40)
    }
}
