/// An MQTT broker, to which kymo connects: `mqtt://broker:1883`, or `mqtts://broker:8883` by TLS. The host is a name or
/// a numeric address.
package struct MQTTSource: WrittenSource {
    private static let (plainPort, securePort): (UInt16, UInt16) = (1_883, 8_883)

    /// Where the broker is.
    package var address: NetworkAddress
    /// Whether it is reached by TLS.
    package var isSecure: Bool
    /// A topic filter that stands behind the address.
    package var filter: TopicFilter?

    /// What all brokers of MQTT have in common.
    package static let descriptor: SourceDescriptor = {
        var descriptor = SourceDescriptor(
            key: "mqtt", form: "URL of a broker",
            about: "MQTT broker, such as `mqtts://broker:8883`: one reading, an array or NDJSON per message",
            flag: .option(
                help: "Read from an MQTT broker: mqtts://broker:8883/ward/+/vitals. Repeatable.", valueName: "url"),
            capabilities: [.network, .broker, .tls]
        ) { (text) throws(SettingProblem) in try MQTTSource(parsing: text) }
        descriptor.splitsAtCommas = false
        return descriptor
    }()

    /// Reads `mqtt://broker:1883` or `mqtts://broker:8883`, with a topic filter behind the next slash or without, or
    /// the host and port alone.
    ///
    /// - Throws: ``SettingProblem`` when it is neither.
    package init(parsing text: String) throws(SettingProblem) {
        let parts = text.firstRange(of: "://").map { (text[..<$0.lowerBound].lowercased(), text[$0.upperBound...]) }
        let (scheme, rest) = parts ?? ("mqtt", text[...])
        guard scheme == "mqtt" || scheme == "mqtts" else {
            throw Self.problem(text, "write mqtts://broker:8883, or mqtt://broker:1883 without TLS")
        }
        isSecure = scheme == "mqtts"
        let place = rest.prefix { $0 != "/" }
        address = try Self.address(place, isSecure ? Self.securePort : Self.plainPort, text)
        let path = rest.dropFirst(place.count + 1)
        filter = path.isEmpty ? nil : try TopicFilter(parsing: String(path))
    }

    private static func address(
        _ place: Substring, _ usualPort: UInt16, _ text: String
    ) throws(SettingProblem) -> NetworkAddress {
        guard !place.contains("@") else {
            throw SettingProblem(
                message: "the URL of the broker holds a user", advice: "write user and passwordFile at the source")
        }
        let hostEnd = place.hasPrefix("[") ? place.firstIndex(of: "]") ?? place.startIndex : place.startIndex
        let colon = place[hostEnd...].lastIndex(of: ":")
        var host = place[..<(colon ?? place.endIndex)]
        let port = colon.map { UInt16(place[place.index(after: $0)...]) } ?? usualPort
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        let isPlain = host.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._:%".contains($0)) }
        guard let port, port > 0, !host.isEmpty, isPlain, !host.contains(":") || place.hasPrefix("[") else {
            throw problem(text, "write a host and a port from 1 to 65535, such as mqtt://broker:1883")
        }
        return NetworkAddress(host: String(host), port: port)
    }

    private static func problem(_ text: String, _ advice: String) -> SettingProblem {
        SettingProblem(message: "'\(text)' is no URL of a broker", advice: advice)
    }

    private var scheme: String { isSecure ? "mqtts://" : "" }

    /// `mqtt broker:1883`.
    package var name: String { "mqtt \(scheme)\(address.text)" }
    /// `mqtt://broker:1883/ward/+/vitals`.
    package var text: String { "mqtt\(isSecure ? "s" : "")://\(address.text)" + (filter.map { "/\($0.text)" } ?? "") }
    /// Nothing: several sources may read from one broker, under names of their own.
    package var claim: String? { nil }

    /// What it asks the broker for, as `configuration` has it.
    private func settings(_ configuration: SourceConfiguration) -> MQTTSettings {
        var settings = configuration.mqtt
        if let filter { settings.topics.insert(filter, at: 0) }
        return settings
    }

    /// Whether only this machine can be meant.
    private var isLoopback: Bool { address.host.lowercased() == "localhost" || address.isLoopback }

    /// How it is reached by TLS, as `configuration` has it; nil for no TLS.
    private func tls(_ configuration: SourceConfiguration) -> BrokerTLS? {
        isSecure ? BrokerTLS(address, configuration.tls) : nil
    }

    /// Whether the broker may be on another machine.
    private func mayBeRemote(_ configuration: SourceConfiguration) -> Bool { isSecure || configuration.isInsecure }

    /// No topics, a connection that others can read, what would lose readings, and settings that lack their companions.
    package func problem(in configuration: SourceConfiguration) -> SettingProblem? {
        let settings = settings(configuration)
        guard mayBeRemote(configuration) || isLoopback else {
            return SettingProblem(
                message: "the connection to \(address.text) is not encrypted, and others can read and change it",
                advice: "write mqtts:// and the broker's port for TLS, or say insecure: true (--insecure)")
        }
        if let problem = configuration.tls.problem(ofBroker: isSecure) { return problem }
        guard !configuration.dropsWhenFull else {
            return SettingProblem(
                message: "what is acknowledged to a broker is on disk, and this source drops readings",
                advice: "say whenFull: block")
        }
        return Self.problem(in: settings)
    }

    private static func problem(in settings: MQTTSettings) -> SettingProblem? {
        guard !settings.topics.isEmpty else {
            return SettingProblem(
                message: "no topic is named",
                advice: "write topics, or one behind the URL, as in mqtt://127.0.0.1:1883/ward/+/vitals")
        }
        let subscriptions = settings.topics.map(\.subscription)
        for (place, subscription) in subscriptions.enumerated() where subscriptions[..<place].contains(subscription) {
            return SettingProblem(message: "the topic filter '\(subscription)' is there twice", advice: "remove one")
        }
        guard settings.isSharded || !settings.topics.contains(where: \.isShared) else {
            return SettingProblem(
                message: "the clients of a shared subscription ($share) each get a part, and the order of a device's "
                    + "readings is lost",
                advice: "subscribe without $share, or say sharded: true")
        }
        guard settings.passwordFile == nil || settings.user != nil else {
            return SettingProblem(message: "passwordFile is there without user", advice: "write user")
        }
        return nil
    }

    /// Looks whether the files of TLS can be used, and opens nothing yet: a lane connects, and does so again and again.
    ///
    /// - Throws: ``SourceError`` when one of the files cannot.
    package func open(_ configuration: SourceConfiguration) throws(SourceError) -> OpenedSource {
        try probe(configuration)
        let name = configuration.statedName.isEmpty ? name : configuration.statedName
        let settings = settings(configuration)
        let broker = OpenedSource.Broker(
            address, mayBeRemote: mayBeRemote(configuration), tls: tls(configuration), settings: settings,
            clientID: settings.clientID(of: name))
        return OpenedSource(self, Descriptor(-1), .broker(broker))
    }
}

extension MQTTSource: ProbedSource {
    /// Reads the files of TLS.
    ///
    /// - Throws: ``SourceError`` when one of them cannot be used.
    package func probe(_ configuration: SourceConfiguration) throws(SourceError) {
        guard let tls = tls(configuration) else { return }
        do throws(TLSFault) {
            _ = try TLSContext(client: tls.files)
        } catch {
            throw SourceError(error, of: name)
        }
    }
}

extension MQTTSource: AnsweringSource {
    /// Connects for a moment, with a session of its own.
    ///
    /// - Throws: ``SourceError`` when the broker does not answer, or refuses.
    package func ask(_ configuration: SourceConfiguration) throws(SourceError) {
        try BrokerQuestion(
            address: address, settings: settings(configuration), mayBeRemote: mayBeRemote(configuration),
            tls: tls(configuration)
        ).ask()
    }
}
