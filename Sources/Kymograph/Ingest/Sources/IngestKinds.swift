import KymographTemplates

/// The kinds of sources and framings that a configuration can name.
///
/// Configuration, environment, command line, their messages, the reference and `kymo dead replay` are made from this
/// list. A program that embeds the pipeline adds its own kinds: see docs/extending.md.
package struct IngestKinds: Sendable {
    /// Kinds of sources, in the order of the reference.
    package private(set) var sources: [SourceDescriptor]
    /// Framings, in the order in which messages list them.
    package private(set) var framings: [FramingDescriptor]

    /// Those of `kymo`.
    package static let builtIn = IngestKinds(
        sources: [
            UDPSource.descriptor, TCPSource.descriptor, HTTPSource.descriptor, MLLPSource.descriptor,
            MQTTSource.descriptor, KafkaSource.descriptor, UnixStreamSource.descriptor, UnixMessageSource.descriptor,
            UnixDatagramSource.descriptor, SerialLine.descriptor,
            StandardInputSource.descriptor,
        ],
        framings: FramingText.descriptors + [HL7FileProtocol.descriptor, AppleHealthProtocol.descriptor])

    /// These kinds and further ones.
    package func adding(sources: [SourceDescriptor] = [], framings: [FramingDescriptor] = []) -> IngestKinds {
        let keys = (self.sources + sources).map(\.key)
        let names = (self.framings + framings).map(\.name)
        precondition(Set(keys).count == keys.count && Set(names).count == names.count, "two kinds have one name")
        var kinds = self
        kinds.sources += sources
        kinds.framings += framings
        return kinds
    }

    /// The kind of source called `key`.
    package func source(_ key: String) -> SourceDescriptor? { sources.first { $0.key == key } }

    /// The address that the name of a source stands for; nil for a name that its configuration states.
    package func address(named name: String) -> (any SourceAddress)? {
        let words = name.split(separator: " ", maxSplits: 1).map(String.init)
        guard words.count == 2, let address = try? source(words[0])?.parse(words[1]), address.name == name else {
            return nil
        }
        return address
    }

    /// Keys of the kinds with all of `capabilities`, joined for a sentence.
    func keys(with capabilities: SourceCapabilities) -> String {
        let keys = sources.filter { $0.capabilities.isSuperset(of: capabilities) }.map(\.key)
        guard let last = keys.last, keys.count > 1 else { return keys.first ?? "" }
        return "\(keys.dropLast().joined(separator: ", ")) and \(last)"
    }

    /// The framing that `text` says: a word, and options with commas before them.
    func framing(_ text: String) throws(SettingProblem) -> StreamFraming {
        var words = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        let name = words.removeFirst()
        guard let framing = framings.first(where: { $0.name == name }) else {
            let names = framings.map(\.name)
            throw SettingProblem(
                message: "'\(name)' is not one of \(names.joined(separator: ", "))",
                advice: NearestName.advice(for: name, among: names, otherwise: "write one of them"))
        }
        return try framing.parse(words)
    }
}
