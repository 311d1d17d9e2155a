import Kymograph
import KymographTemplates
import Testing

/// The `sources` of a file, and what is wrong with them.
@Suite struct SourceSettingsTests {
    @Test func readsEveryKind() throws {
        let result = load(
            """
            sources:
              - udp: 0.0.0.0:5757
                receiveBuffer: 1MiB
                coalesce: true
              - udp: "[fe80::1%eth0]:1"
              - unix: a.sock
                socketMode: 0600
                mappings: [reading, wristband]
              - unixgram: b.sock
                socketMode: "660"
                mappings: reading
                defaultDevice: d
                defaultPatient: p
              - stdin: true
            """)
        #expect(result.diagnostics.map(\.text) == [])
        let sources = result.settings.sources
        #expect(
            sources.map { AnyHashable($0.configuration.address) } == [
                .init(UDPSource(NetworkAddress(host: "0.0.0.0", port: 5757))),
                .init(UDPSource(NetworkAddress(host: "fe80::1%eth0", port: 1))),
                .init(UnixStreamSource(path: "a.sock")), .init(UnixDatagramSource(path: "b.sock")),
                .init(StandardInputSource(descriptor: 0)),
            ])
        try #require(sources.count == 5)
        #expect(sources.map(\.configuration.receiveBufferBytes) == [1 << 20, 4 << 20, 4 << 20, 4 << 20, 4 << 20])
        #expect(sources.map(\.configuration.coalesces) == [true, false, false, false, false])
        #expect(sources.map(\.configuration.socketMode) == [0o660, 0o660, 0o600, 0o660, 0o660])
        #expect(sources.map(\.mappings) == [[], [], ["reading", "wristband"], ["reading"], []])
        #expect(sources[3].defaultDevice == "d" && sources[3].defaultPatient == "p" && sources[2].defaultDevice == nil)
    }

    @Test(arguments: [
        (
            "sources:",
            "1:9: error: sources: no source is named; name one, or remove the key to listen to "
                + "udp 127.0.0.1:5757 and unix ./kymo.sock"
        ),
        (
            "sources: []",
            "1:10: error: sources: no source is named; name one, or remove the key to listen to "
                + "udp 127.0.0.1:5757 and unix ./kymo.sock"
        ),
        (
            "sources:\n  udp: 127.0.0.1:1",
            "2:3: error: sources: expected a list, found keys and values; begin each source "
                + "with '- ', as in '- udp: 127.0.0.1:5757'"
        ),
        (
            "sources:\n- 127.0.0.1:1",
            "2:3: error: sources[0]: expected keys and values, found text; write for instance '- udp: 127.0.0.1:5757'"
        ),
        (
            "sources:\n- mappings: reading",
            "2:3: error: sources[0]: nothing to listen to is named; add one of udp, tcp, http, mllp, mqtt, kafka, unix, "
                + "seqpacket, unixgram, serial, stdin"
        ),
        (
            "sources:\n- stdin: true\n- udp: 127.0.0.1:1\n  unix: a.sock",
            "4:3: error: sources[1]: 'unix' is given besides "
                + "'udp'; make them two sources, each with a '- ' of its own"
        ),
        (
            "sources:\n- stdin: true\n  mapping: x",
            "3:3: error: sources[0]: unknown key 'mapping'; did you mean 'mappings'?"
        ),
        (
            "sources:\n- stdin: true\n  timezone: Europe/Berlyn",
            "3:13: error: sources[0].timezone: there is no time zone 'Europe/Berlyn'; write a name such as "
                + "Europe/Berlin or an offset such as +02:00, and see that the package tzdata is installed"
        ),
        (
            "sources:\n- stdin: true\n  timezone: ../../etc/passwd",
            "3:13: error: sources[0].timezone: there is no time zone '../../etc/passwd'; write a name such as "
                + "Europe/Berlin or an offset such as +02:00, and see that the package tzdata is installed"
        ),
        (
            "sources:\n- stdin: true\n  colour: red",
            "3:3: error: sources[0]: unknown key 'colour'; the keys of a source are "
                + "udp, tcp, http, mllp, mqtt, kafka, unix, seqpacket, unixgram, serial, stdin, mappings, deviceMapping, "
                + "fhirMapping, framing, name, defaultDevice, "
                + "defaultPatient, types, tags, until, whenFull, timezone, peers, receiveBuffer, coalesce, socketMode, "
                + "connections, "
                + "connectionsPerPeer, proxies, idleLimit, certificateFile, certificateKeyFile, caFile, crlFile, "
                + "clientCAFile, clientCRLFile, "
                + "insecure, pskFile, pskCCM8, sealedKeyFile, associations, associationsPerPeer, handshakeRate, associationIdle, topics, qos, sharded, receiveMaximum, mqttVersion, clientId, user, passwordFile, "
                + "keepAlive, sessionExpiry, statusTopic, group, partitions, startAt, headers, propertiesFile"
        ),
        (
            "sources:\n- stdin: false",
            "2:10: error: sources[0].stdin: 'false' is not true; write true, or remove the source"
        ),
        (
            "sources:\n- udp: 5757",
            "2:8: error: sources[0].udp: '5757' is not an address to listen to: it has no port from "
                + "0 to 65535; write 127.0.0.1:5757 or [::1]:5757"
        ),
        (
            "sources:\n- udp: localhost:5757",
            "2:8: error: sources[0].udp: 'localhost:5757' names its host; write a numeric "
                + "address, such as 127.0.0.1:5757, [::1]:5757 or 0.0.0.0:5757"
        ),
        ("sources:\n- unix:", "2:8: error: sources[0].unix: no value is given; write a path, or remove the key"),
        (
            "sources:\n- stdin: true\n  defaultDevice: ''",
            "3:18: error: sources[0].defaultDevice: the value is empty; write a text"
        ),
        (
            "sources:\n- udp: 127.0.0.1:1\n  receiveBuffer: 0",
            "3:18: error: sources[0].receiveBuffer: '0' is out of range; write a size from 1 to 2147483647"
        ),
        (
            "sources:\n- unix: a.sock\n  socketMode: 0999",
            "3:15: error: sources[0].socketMode: '0999' is not a file mode; "
                + "write an octal number, such as \"0660\""
        ),
        (
            "sources:\n- stdin: true\n  socketMode: 0660",
            "3:15: warning: sources[0].socketMode: it has no effect here; only Unix sockets have a socket file"
        ),
        (
            "sources:\n- unix: a.sock\n  receiveBuffer: 1MiB",
            "3:18: warning: sources[0].receiveBuffer: it has no effect here; "
                + "only udp and unixgram have a receive buffer"
        ),
    ])
    func findings(file: String, message: String) {
        #expect(messages(file) == ["kymo.yaml:\(message)"])
    }

    @Test func aPathThatNoSocketCanHave() {
        let path = String(repeating: "p", count: 108)
        #expect(
            messages("sources:\n- unix: \(path)") == [
                "kymo.yaml:2:9: error: sources[0].unix: the path has 108 bytes, and a Unix socket's may have 107; "
                    + "choose a "
                    + "shorter one, for instance in /run"
            ])
    }

    @Test(arguments: [
        ("udp: 127.0.0.1:1", "udp: 127.0.0.1:1", "udp", "udp 127.0.0.1:1", 8),
        ("stdin: true", "stdin: true", "stdin", "stdin", 10),
        ("unix: a", "unixgram: a", "unixgram", "the path a", 13),
    ])
    func twoOfOneAddress(first: String, second: String, key: String, name: String, column: Int) {
        #expect(
            messages("sources:\n- \(first)\n- \(second)\n") == [
                "kymo.yaml:3:\(column): error: sources[1].\(key): two sources have \(name); remove one, or choose "
                    + "another address"
            ])
    }

    @Test func portsThatTheKernelChoosesDiffer() {
        #expect(messages("sources:\n- udp: 127.0.0.1:0\n- udp: 127.0.0.1:0\n") == [])
    }

    @Test func flagsNameSourcesToo() {
        let result = load(
            "sources: [{stdin: true}]",
            flags: [("udp", "--udp", "127.0.0.1:9"), ("unix", "--unix", "a"), ("udp", "--udp", "here")])
        #expect(result.settings.sources.map(\.configuration.address.name) == ["udp 127.0.0.1:9", "unix a"])
        #expect(
            result.diagnostics.map(\.text) == [
                "command line:1:1: error: --udp: 'here' is not an address to listen to: it has no port from 0 to "
                    + "65535; write 127.0.0.1:5757 or [::1]:5757"
            ])
    }
}
