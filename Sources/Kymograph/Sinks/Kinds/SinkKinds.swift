import KymographCore
import KymographTemplates

/// The kinds of sinks that a configuration can name.
///
/// Configuration, messages and the reference are made from this list: docs/extending.md adds a kind to it.
package struct SinkKinds: Sendable {
    /// In the order of the reference.
    package private(set) var all: [SinkDescriptor]

    /// Those of `kymo`.
    package static let builtIn = SinkKinds(all: [
        StandardOutputAddress.descriptor, DirectoryAddress.descriptor, ServerSettings.descriptor,
        EventHubSettings.descriptor, PostgresSettings.descriptor, KafkaSettings.descriptor,
    ])

    /// What `output.to` says where output goes to no such place.
    static let nowhere = "none"

    /// These kinds and further ones.
    package func adding(_ kinds: [SinkDescriptor]) -> SinkKinds {
        let more = SinkKinds(all: all + kinds)
        let places = more.all.map { "\($0.key) \($0.word ?? "")" }
        let settings = more.all.flatMap { $0.settings.map(\.key) }
        precondition(Set(places).count == places.count, "two kinds have one key")
        precondition(Set(settings).isDisjoint(with: more.keys), "a setting has the key of a place")
        return more
    }

    /// Keys of places, each once.
    var keys: [String] {
        all.enumerated().filter { place, kind in !all[..<place].contains { $0.key == kind.key } }.map(\.element.key)
    }

    /// Settings of kinds, each key once; what several kinds call the same, all of them have.
    var ownKeys: [String] {
        var known: Set<String> = []
        return all.flatMap { $0.settings.map(\.key) }.filter { known.insert($0).inserted }
    }

    /// Reads what `output.to` says: a place of its own key, or the URL of a kind that is named by one.
    func destination(_ text: String) throws(SettingProblem) -> (any SinkAddress)? {
        guard let kind = kind(ofURL: text) else { return try address(text, "to") }
        return try kind.read(text, nil)
    }

    /// The kind that is named by URLs such as `text`; nil when that is none.
    private func kind(ofURL text: String) -> SinkDescriptor? {
        all.first { $0.schemes.contains { text.hasPrefix($0) } }
    }

    /// The kinds whose places have this key.
    func kinds(_ key: String) -> [SinkDescriptor] { all.filter { $0.key == key } }

    /// Reads a place under `key` into `draft`, what settings of its kind were read into before; nil for no place.
    func address(
        _ text: String, _ key: String, _ draft: (any SinkAddress)? = nil
    ) throws(SettingProblem) -> (any SinkAddress)? {
        let kinds = kinds(key)
        if let other = kind(ofURL: text), other.key != key {
            throw SettingProblem(message: "a \(other.key) has a key of its own", advice: "write \(other.key) for it")
        }
        if let kind = kinds.first(where: { $0.word == text }) { return try kind.read(text, draft) }
        if text == SinkKinds.nowhere, kinds.contains(where: { $0.word != nil }) { return nil }
        guard let kind = kinds.first(where: { $0.word == nil }) else {
            let words = kinds.compactMap(\.word)
            throw SettingProblem(
                message: "'\(text)' is not one of \(words.joined(separator: ", "))",
                advice: NearestName.advice(for: text, among: words, otherwise: "write one of them"))
        }
        return try kind.read(text, draft)
    }
}
