import KymographCore

/// A setting of sources that has an effect on some kinds only.
struct LimitedSourceSetting: Sendable {
    let setting: Setting<PipelineSettings.Source>
    /// What a kind must be able to do.
    let needs: SourceCapabilities
    /// Why it has no effect on others, by the keys of those that it has one on.
    let advice: @Sendable (String) -> String
}

/// Every key of a source: those of its kinds, those of all, and those of some.
enum SourceSettings {
    typealias SourceSetting = Setting<PipelineSettings.Source>

    /// All keys, in the order of the reference.
    static func all(_ kinds: IngestKinds) -> [SourceSetting] {
        kinds.sources.map(address) + common(kinds) + limited.map(\.setting)
    }

    /// The setting that names a source of `kind`.
    static func address(_ kind: SourceDescriptor) -> SourceSetting {
        let values: SettingValues = if case .toggle = kind.flag { .choice(["true"]) } else { .text }
        return .single(kind.key, kind.form, kind.about, values) { (text, source) throws(SettingProblem) in
            source.configuration.address = try kind.parse(text)
        } shown: { _ in
            ""
        }
    }

    /// The address of `source` as ``address(_:)`` reads it: its name without the kind, unless that says less.
    static func addressText(_ source: PipelineSettings.Source) -> String {
        let address = source.configuration.address
        if let address = address as? any WrittenSource { return address.text }
        let text = address.name.dropFirst(address.kind.key.count + 1)
        return text.isEmpty ? "true" : String(text)
    }

    /// A source of nothing but an address, as flags and variables give it; nil after an error.
    static func source(
        _ kind: SourceDescriptor, _ text: SettingText, log: inout ConfigurationLog
    ) -> PipelineSettings.Source? {
        var source = PipelineSettings.Source(.standardInput(descriptor: 0))
        let setting = address(kind)
        guard setting.apply([text], to: &source, log: &log) else { return nil }
        setting.remember([text], in: &source.origins)
        return source
    }

    private static func common(_ kinds: IngestKinds) -> [SourceSetting] {
        [
            .names(
                "mappings", "mapping's name or folder", \.mappings,
                "Mappings of this source, in place of the common ones"),
            .text(
                "deviceMapping", "file", \.namedFiles.device,
                "A mapping of this source by its two files: the one with device templates"),
            .text("fhirMapping", "file", \.namedFiles.fhir, "The file with its FHIR templates"),
            .single(
                "framing", "framing", "How bytes become payloads, in place of the common framing; not for datagrams",
                read: { (text, source) throws(SettingProblem) in source.statedFraming = try kinds.framing(text) },
                shown: { $0.statedFraming.map(FramingText.text) ?? "" }),
            .text("name", "text", \.statedName, "Name in messages, dead letters, the ledger and filters of sinks"),
            .identifier("defaultDevice", \.defaultDevice, "Device of readings that name none"),
            .identifier("defaultPatient", \.defaultPatient, "Patient of readings that name none"),
            .names(
                "types", "type, with `*` for any characters", \.types,
                "Types of readings that it takes; others are rejected as `typeNotAllowed`; left out, all"),
            Setting(
                key: "tags", form: "tag",
                about: "Tags that its readings get, for `meta.tag` of their Observations: `code` or `system|code`",
                values: .text, elements: { $0.tags },
                read: { (texts, source) throws(SettingProblem) in source.tags = try texts.map(TagText.parse) },
                shown: { $0.tags.joined(separator: ", ") }),
            .single(
                "until", "time with offset",
                "When it ends: readings of this time and later are rejected as `afterStopDate`, and those that last "
                    + "beyond it",
                read: { (text, source) throws(SettingProblem) in source.until = try StopTime(parsing: text) },
                shown: { $0.until?.text ?? "" }),
            .choice(
                "whenFull", \.configuration.dropsWhenFull, [("block", false), ("dropNewest", true)],
                "When readings come faster than they leave: `block` reads no more until there is room, `dropNewest` "
                    + "drops them, counted as `bufferFull`"),
            .single(
                "timezone", "zone or offset",
                "Wall clock by which times without an offset are read: `Europe/Berlin`, `+02:00`; by default UTC, and "
                    + "none for HL7 v2",
                read: { (text, source) throws(SettingProblem) in source.timezone = try TimeZoneText.parse(text) },
                shown: { $0.timezone?.name ?? "" }),
        ]
    }

    /// Settings that have no effect on some kinds of sources.
    static let limited: [LimitedSourceSetting] =
        [peers] + datagrams + [socketMode] + clients + AssociationSettings.all + BrokerSettings.all
        + TopicSettings.all

    private static let peers = LimitedSourceSetting(
        setting: .single(
            "peers", "file",
            "Who may bring readings, and which: a list of peers ([peers](peers.md)); left out, everybody",
            read: { (text, source) throws(SettingProblem) in source.configuration.peers = try PeersFile.open(text) },
            shown: { $0.configuration.peers?.path ?? "" }),
        needs: .peers
    ) { "only \($0) tell who sends" }

    private static let datagrams = [
        LimitedSourceSetting(
            setting: .size(
                "receiveBuffer", \.configuration.receiveBufferBytes, 1...Int(Int32.max),
                "Receive buffer to ask the kernel for; udp and unixgram only"),
            needs: .receiveBuffer
        ) { "only \($0) have a receive buffer" },
        LimitedSourceSetting(
            setting: .choice(
                "coalesce", \.configuration.coalesces, [("true", true), ("false", false)],
                "Whether datagrams of one sender may come together, which is quicker; what the kernel drops is then "
                    + "counted too low; udp only"),
            needs: .coalescing
        ) { "only \($0) can take datagrams together" },
    ]

    private static let socketMode = LimitedSourceSetting(
        setting: .single(
            "socketMode", "octal number", "Permissions of the socket's file; Unix sockets only",
            read: { (text, source) throws(SettingProblem) in
                guard let mode = UInt32(text, radix: 8), mode <= 0o777 else {
                    throw SettingProblem(
                        message: "'\(text)' is not a file mode", advice: "write an octal number, such as \"0660\"")
                }
                source.configuration.socketMode = mode
            },
            shown: { "0" + String($0.configuration.socketMode, radix: 8) }),
        needs: .socketFile
    ) { _ in "only Unix sockets have a socket file" }

    private static func tlsFile(
        _ key: String, _ place: any WritableKeyPath<PipelineSettings.Source, String?> & Sendable, _ about: String,
        _ needs: SourceCapabilities = .tls
    ) -> LimitedSourceSetting {
        LimitedSourceSetting(setting: .text(key, "file", place, about), needs: needs) {
            needs == .tls ? "TLS is for \($0) only" : "it is for \($0) only"
        }
    }

    private static let clients = [
        LimitedSourceSetting(
            setting: .single(
                "connections", "whole number from 1 to 65536",
                "Most clients at a time: 256 of tcp, http and mllp, where further ones are refused, and 1024 of Unix "
                    + "sockets, where they wait",
                read: { (text, source) throws(SettingProblem) in
                    source.configuration.maxConnections = try SourceSetting.wholeNumber(text, 1...65_536)
                },
                shown: { $0.configuration.maxConnections.map { String($0) } ?? "" }),
            needs: .clients
        ) { "clients connect to \($0) only" },
        LimitedSourceSetting(
            setting: .count(
                "connectionsPerPeer", \.configuration.maxConnectionsPerPeer, 1...65_536,
                "Most connections of one host at a time; further ones are refused; tcp, http and mllp only"),
            needs: [.clients, .network]
        ) { "only clients of \($0) have hosts" },
        LimitedSourceSetting(
            setting: Setting(
                key: "proxies", form: "numeric address or range",
                about: "Proxies from which all connections come and begin with a PROXY header, which says who the "
                    + "client is; tcp, http and mllp only",
                elements: { $0.configuration.proxies.map(\.text) },
                read: { (texts, source) throws(SettingProblem) in
                    source.configuration.proxies = try texts.map(NetworkRange.setting)
                },
                shown: { $0.configuration.proxies.map(\.text).joined(separator: ", ") }),
            needs: [.clients, .network]
        ) { "proxies stand before \($0) only" },
        LimitedSourceSetting(
            setting: .duration(
                "idleLimit", \.configuration.idleLimit,
                "How long a client may be silent before it is disconnected; `0s` means for ever; tcp, http, mllp, "
                    + "unix and seqpacket only"),
            needs: .clients
        ) { "clients connect to \($0) only" },
        tlsFile(
            "certificateFile", \.configuration.tls.certificateFile,
            "TLS: the certificate of this side and those between it and an authority, PEM, which listeners need and "
                + "brokers may ask for, or of udp DTLS; tcp, http, mllp, mqtt and udp only"),
        tlsFile(
            "certificateKeyFile", \.configuration.tls.keyFile,
            "Its key, PEM, which others cannot read; left out, it is in certificateFile; tcp, http, mllp, mqtt "
                + "and udp only"),
        tlsFile(
            "caFile", \.configuration.tls.caFile,
            "Authorities to trust in place of the system's, PEM; mqtt only", .broker),
        tlsFile(
            "crlFile", \.configuration.tls.crlFile, "Lists of the certificates that these have revoked, PEM; mqtt only",
            .broker),
        tlsFile(
            "clientCAFile", \.configuration.tls.clientCAFile,
            "Authorities, PEM: clients must show a certificate of one of them; tcp, http, mllp and udp only",
            .clientCertificates),
        tlsFile(
            "clientCRLFile", \.configuration.tls.clientCRLFile,
            "Lists of the certificates that these have revoked, PEM; tcp, http, mllp and udp only",
            .clientCertificates),
        LimitedSourceSetting(
            setting: .choice(
                "insecure", \.configuration.isInsecure, [("true", true), ("false", false)],
                "Whether other machines may send without encryption; tcp, http, mllp and mqtt only"),
            needs: .network
        ) { "it is for \($0) only" },
    ]
}
