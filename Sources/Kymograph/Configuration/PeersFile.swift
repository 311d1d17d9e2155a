import Glibc
import KymographCore
import KymographTemplates

/// Reads lists of peers: see docs/peers.md.
enum PeersFile {
    private typealias Row = Setting<PeerEntry>

    /// What a list says of one peer, and where.
    struct PeerEntry: Sendable {
        var rule = PeerRule()
        var secret: (kind: PeerSecret, path: String)?
        var origins: [String: SettingOrigin] = [:]
    }

    /// The list at `path`, which is read again when it has changed.
    ///
    /// - Throws: ``SettingProblem`` with the place of the first fault.
    static func open(_ path: String) throws(SettingProblem) -> PeerBook {
        try PeerBook(path) { () throws(SettingProblem) in try read(path) }
    }

    /// The list, and the files that it is made of.
    private static func read(_ path: String) throws(SettingProblem) -> (list: PeerList, files: [String]) {
        guard let bytes = FileSystem.content(path) else {
            throw SettingProblem(message: "\(path) cannot be read: \(ErrorText.of(errno))", advice: "name a file")
        }
        var log = ConfigurationLog()
        let entries = entries(path, bytes, log: &log)
        var rules: [PeerRule] = []
        for entry in entries { if let rule = rule(entry, log: &log) { rules.append(rule) } }
        checkProofs(entries, rules, log: &log)
        CertificatePeers.checkBorders(entries, log: &log)
        let errors = log.all.filter { $0.severity == .error }
        guard let first = errors.first else {
            return (PeerList(rules), [path] + entries.compactMap { $0.secret?.path })
        }
        let more = errors.count > 1 ? ", and \(errors.count - 1) more" : ""
        throw SettingProblem(
            message: "\(first.file):\(first.position.line):\(first.position.column): \(first.message)\(more)",
            advice: first.advice)
    }

    private static func entries(_ path: String, _ bytes: [UInt8], log: inout ConfigurationLog) -> [PeerEntry] {
        let text = ConfigurationText(name: path, bytes: bytes, variables: [:])
        guard let root = text.root(log: &log) else {
            if log.all.isEmpty {
                log.add(
                    .error, SettingOrigin(file: path, position: .start, subject: "peers"), "it is empty",
                    advice: "begin with 'peers:'")
            }
            return []
        }
        guard case .mapping(let pairs) = root.content, pairs.count == 1, case .text("peers") = pairs[0].key.content
        else {
            log.add(.error, root.origin("peers"), "expected the key 'peers' alone", advice: "begin with 'peers:'")
            return []
        }
        return ElementListReader.read(pairs[0].value, form, log: &log)
    }

    private static var form: ElementListReader<PeerEntry>.Form {
        .init(
            name: "peers", noun: "peer", kinds: proofs.map(\.key), settings: proofs + bounds,
            example: "- certificate: gateway-3.ward.example",
            adviceWhenEmpty: "name one, or remove peers from the source",
            messageWithoutKind: "nothing says who it is", start: PeerEntry(), origins: \.origins)
    }

    // MARK: Keys

    private static let proofs: [Row] = [
        .single(
            "certificate", "name", "Common name, or alternative name, of its certificate; `*` at the end for any end",
            .text
        ) { (text, entry) throws(SettingProblem) in
            entry.rule.proof = .certificate(IdentifierPattern(text))
        } shown: { _ in
            ""
        },
        .single("pskIdentity", "identity", "Identity of its pre-shared key; udp with pskFile only", .text) {
            (text, entry) throws(SettingProblem) in
            entry.rule.proof = .pskIdentity(Array(text.utf8))
        } shown: { _ in
            ""
        },
        .single("sealedKey", "name", "Name of the key that seals its datagrams; udp with sealedKeyFile only", .text) {
            (text, entry) throws(SettingProblem) in
            entry.rule.proof = .sealedKey(Array(text.utf8))
        } shown: { _ in
            ""
        },
        secret(.token), secret(.sharedAccess), secret(.webhook), secret(.nightscout),
        .single("user", "number", "User of its process; Unix sockets only", .text) {
            (text, entry) throws(SettingProblem) in
            guard let user = UInt32(text) else {
                throw SettingProblem(message: "'\(text)' is not the number of a user", advice: "see 'id -u NAME'")
            }
            entry.rule.proof = .user(user)
        } shown: { _ in
            ""
        },
        Row(
            key: "addresses", form: "numeric address or range", about: "Where it sends from, as 10.1.2.0/24",
            values: .text, elements: { _ in [] }
        ) { (texts, entry) throws(SettingProblem) in
            entry.rule.proof = .addresses(try texts.map(NetworkRange.setting))
        } shown: { _ in
            ""
        },
    ]

    private static func secret(_ kind: PeerSecret) -> Row {
        .single(kind.rawValue, "file", kind.about, .text) { (text, entry) throws(SettingProblem) in
            entry.secret = (kind, text)
        } shown: { _ in
            ""
        }
    }

    private static let bounds: [Row] = [
        .text("name", "text", \.statedName, "Its name in messages and dead letters"),
        patterns("devices", \.rule.devices, "Devices that its readings may name; `*` at the end for any end"),
        .choice(
            "deviceFrom", \.rule.deviceFrom, CertifiedDevice.kinds.map { ($0.rawValue, $0) },
            "The name in the certificate that is the one device of its client"),
        patterns("patients", \.rule.patients, "Patients that its readings may name"),
        .single("patient", "identifier", "The patient of all its readings", .text) {
            (text, entry) throws(SettingProblem) in
            guard !text.hasSuffix("*") else {
                throw SettingProblem(message: "'\(text)' is no single patient", advice: "use patients for several")
            }
            entry.rule.patient = Array(try IdentifierSetting.parse(text, "identifier").utf8)
        } shown: { _ in
            ""
        },
        Row(
            key: "mappings", form: "name", about: "Mappings of the source that its payloads may use", values: .text,
            elements: { _ in [] }
        ) { (texts, entry) throws(SettingProblem) in
            entry.rule.mappings = texts.map { IdentifierText($0) }
        } shown: { _ in
            ""
        },
        Row(
            key: "tags", form: "tag", about: "Tags that its readings get: `code` or `system|code`", values: .text,
            elements: { _ in [] }
        ) { (texts, entry) throws(SettingProblem) in
            entry.rule.tags = ReadingTags.list(try texts.map(TagText.parse))
        } shown: { _ in
            ""
        },
        .count("rate", \.rule.readings.perSecond, 1...10_000_000, "Readings a second"),
        .count("burst", \.rule.readings.burst, 1...10_000_000, "Readings at once"),
        .count("deviceRate", \.rule.readingsOfDevice.perSecond, 1...10_000_000, "Readings of each device a second"),
        .count("deviceBurst", \.rule.readingsOfDevice.burst, 1...10_000_000, "Readings of each device at once"),
        .count("byteRate", \.rule.bytes.perSecond, 1...1_000_000_000, "Bytes a second"),
        .count("byteBurst", \.rule.bytes.burst, 1...1_000_000_000, "Bytes at once"),
    ]

    private static func patterns(
        _ key: String, _ place: Row.Path<[IdentifierPattern]>, _ about: String
    ) -> Row {
        Row(key: key, form: "identifier", about: about, values: .text, elements: { _ in [] }) {
            (texts, entry) throws(SettingProblem) in
            var patterns: [IdentifierPattern] = []
            for text in texts { patterns.append(IdentifierPattern(try IdentifierSetting.parse(text, "identifier"))) }
            entry[keyPath: place] = patterns
        } shown: { _ in
            ""
        }
    }

    // MARK: Proofs

    /// What no sender of a source can prove: peers of the list that it could never let in, or whose mappings are none
    /// of `mappings`, which the source has; nil when there is nothing.
    /// A list that is read again is refused for the same, and the former one stays in use.
    static func problem(of configuration: SourceConfiguration, mappings: [String]) -> SettingProblem? {
        guard let book = configuration.peers else { return nil }
        var source = configuration
        source.peers = nil
        let names = mappings.map { IdentifierText($0) }
        book.demand { [source] in problem(of: $0, source, names) }
        return problem(of: book.current(note: { _ in }), source, names)
    }

    private static func problem(
        of list: PeerList, _ configuration: SourceConfiguration, _ mappings: [IdentifierText]
    ) -> SettingProblem? {
        if let other = list.mappings.first(where: { !mappings.contains($0) }) {
            return SettingProblem(
                message: "a peer may use the mapping '\(other)', which this source does not have",
                advice: "name one of the source's, or leave mappings out for all of them")
        }
        let isLocal = configuration.capabilities.contains(.socketFile)
        let isHTTP = configuration.address.kind.key == HTTPSource.descriptor.key
        for proof in list.proofs {
            switch proof {
            case .certificate where !configuration.capabilities.contains(.clientCertificates):
                return SettingProblem(
                    message: "a peer is known by its certificate, and this source has no TLS",
                    advice: "give the source a list of its own")
            case .certificate where configuration.tls.clientCAFile == nil:
                return SettingProblem(
                    message: "a peer is known by its certificate, and no client shows one",
                    advice: "name the authorities of the clients' certificates as clientCAFile")
            case .pskIdentity where configuration.tls.pskFile == nil:
                return SettingProblem(
                    message: "a peer is known by its pre-shared key, and no client has one here",
                    advice: "name the keys of a udp source as pskFile, or give the source a list of its own")
            case .sealedKey where !configuration.isSealed:
                return SettingProblem(
                    message: "a peer is known by the key of its sealed datagrams, and this source takes none",
                    advice: "name the keys of a udp source as sealedKeyFile, or give the source a list of its own")
            case .addresses where configuration.isSealed:
                return SettingProblem(
                    message: "a peer is known by its address, and sealed datagrams are known by their keys alone",
                    advice: "name the peer's key as sealedKey")
            case .token where !isHTTP, .sharedAccess where !isHTTP, .webhook where !isHTTP, .nightscout where !isHTTP:
                return SettingProblem(
                    message: "a peer is known by its token or key, which only requests of http sources bear",
                    advice: "give the source a list of its own")
            case .user where !isLocal, .addresses where isLocal:
                return SettingProblem(
                    message: isLocal
                        ? "a peer is known by its address, and processes have none here"
                        : "a peer is known by its user, which only Unix sockets tell",
                    advice: "give the source a list of its own")
            case .certificate, .pskIdentity, .sealedKey, .token, .sharedAccess, .webhook, .nightscout, .user,
                .addresses, .nothing:
                continue
            }
        }
        return nil
    }

    /// What a list lets happen that is hardly wanted; nil when there is nothing.
    static func warning(of configuration: SourceConfiguration) -> SettingProblem? {
        guard configuration.peers?.current(note: { _ in }).hasUnboundUploader ?? false else { return nil }
        return SettingProblem(
            message:
                "a peer of nightscoutSecretFile has neither patient nor patients: its readings are filed under another "
                + "person when they are sent to that one's source",
            advice: "state patient for each")
    }

    /// The rule of an entry, whose token is read; nil after an error.
    private static func rule(_ entry: PeerEntry, log: inout ConfigurationLog) -> PeerRule? {
        var rule = entry.rule
        if rule.name.isEmpty { rule.name = usualName(entry) }
        checkName(rule.name, entry, log: &log)
        CertificatePeers.check(entry, log: &log)
        do throws(SecretFault) {
            if rule.patient != nil, !rule.patients.isEmpty, let origin = entry.origins["patient"] {
                log.add(
                    .error, origin, "'patient' is given besides 'patients'",
                    advice: "remove patients: all its readings are of the one patient")
            }
            if let secret = entry.secret {
                rule.proof = try secret.kind.proof(in: SecretFile(secret.path), of: entry.rule.name)
            }
            return rule
        } catch {
            guard let secret = entry.secret, let origin = entry.origins[secret.kind.rawValue] else { return nil }
            log.add(.error, origin, error.message, advice: secret.kind.advice)
            return nil
        }
    }

    private static func usualName(_ entry: PeerEntry) -> String {
        switch entry.rule.proof {
        case .certificate(let pattern): pattern.text
        case .pskIdentity(let name), .sealedKey(let name): String(decoding: name, as: UTF8.self)
        case .user(let user): "user \(user)"
        case .addresses: PeerRule.ofAddress
        case .nothing, .token, .sharedAccess, .webhook, .nightscout: PeerRule.ofToken
        }
    }

    /// Details of dead letters end with the name: what comes before it must end where it seems to. Another peer's
    /// readings would be judged by it else, when they come again.
    private static func checkName(_ name: String, _ entry: PeerEntry, log: inout ConfigurationLog) {
        guard !name.utf8.ranges(of: Array(Peer.listedText.utf8)).isEmpty,
            let origin = (["name"] + form.kinds).compactMap({ entry.origins[$0] }).first
        else { return }
        log.add(
            .error, origin,
            "the name '\(name)' has '\(Peer.listedText)' in it, which stands before names in dead letters",
            advice: "state another name")
    }

    /// No two peers may prove in the same way who they are.
    private static func checkProofs(_ entries: [PeerEntry], _ rules: [PeerRule], log: inout ConfigurationLog) {
        guard entries.count == rules.count else { return }
        var seen: Set<[UInt8]> = []
        for (entry, rule) in zip(entries, rules) {
            for text in proofTexts(rule) where !seen.insert(Array(text.utf8)).inserted {
                guard let origin = form.kinds.compactMap({ entry.origins[$0] }).first else { continue }
                log.add(.error, origin, "another peer has the same", advice: "make them one, or tell them apart")
            }
        }
    }

    private static func proofTexts(_ rule: PeerRule) -> [String] {
        switch rule.proof {
        case .nothing: []
        case .certificate(let pattern): ["certificate \(pattern.text)"]
        case .pskIdentity(let identity): ["psk \(String(decoding: identity, as: UTF8.self))"]
        case .sealedKey(let name): ["sealed \(String(decoding: name, as: UTF8.self))"]
        case .token(let digest): ["token \(digest)"]
        case .sharedAccess: ["policy \(rule.name)"]
        case .webhook(let key): ["key \(key)"]
        case .nightscout(let digest): ["secret \(digest)"]
        case .user(let user): ["user \(user)"]
        case .addresses(let ranges): ranges.map { "address \($0)" }
        }
    }
}

extension PeersFile.PeerEntry {
    /// Its name; nil when none is stated.
    fileprivate var statedName: String? {
        get { rule.name.isEmpty ? nil : rule.name }
        set { rule.name = newValue ?? "" }
    }
}
