import KymographCore

/// Where a topic is: `kafka://HOST[:PORT][,HOST…]/TOPIC`.
package struct KafkaPlace: Hashable, Sendable {
    /// Why a text is no such place; never with the text, which may hold a password.
    struct Fault: Error, Hashable, Sendable {
        var message: String
        var advice: String
    }

    /// What it begins with.
    static let scheme = "kafka://"

    /// As it was given.
    let text: String
    /// As librdkafka wants them: with commas in between.
    let brokers: String
    /// The topic.
    let topic: String
    /// Whether all brokers are on this machine.
    let isLocal: Bool

    /// Reads `text`.
    ///
    /// - Throws: ``Fault`` with what is wrong with it, and what to write.
    init(_ text: String) throws(Fault) {
        guard text.hasPrefix(KafkaPlace.scheme) else {
            throw Fault(message: "it is no place of a topic", advice: KafkaPlace.example)
        }
        let parts = text.dropFirst(KafkaPlace.scheme.count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, KafkaPlace.isTopic(parts[1]) else {
            throw Fault(
                message: "it names no topic, which has letters, digits, '.', '_' and '-'", advice: KafkaPlace.example)
        }
        guard !parts[0].contains("@") else {
            throw Fault(
                message: "it has a user, or a password, which others can read there",
                advice: "write both into a file of mode 0600, as sasl.username and sasl.password, and name that as "
                    + "propertiesFile")
        }
        let hosts = parts[0].split(separator: ",", omittingEmptySubsequences: false)
        var names: [Substring] = []
        for host in hosts { names.append(try KafkaPlace.host(host)) }
        (self.text, topic, brokers) = (text, String(parts[1]), String(parts[0]))
        isLocal = names.allSatisfy(KafkaPlace.isLocal)
    }

    private static let example = "write kafka://HOST:9092/TOPIC, with more of HOST:PORT after commas"

    /// A name of a topic (Kafka, `Topic.java`).
    private static func isTopic(_ text: Substring) -> Bool {
        (1...249).contains(text.utf8.count) && text != "." && text != ".."
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// The host of `HOST`, `HOST:PORT` or `[IPv6]:PORT`.
    private static func host(_ text: Substring) throws(Fault) -> Substring {
        let isBracketed = text.hasPrefix("[")
        let host = isBracketed ? text.dropFirst().prefix { $0 != "]" } : text.prefix { $0 != ":" }
        let rest = text.dropFirst(host.count + (isBracketed ? 2 : 0))
        let isPort = rest.isEmpty || rest.hasPrefix(":") && UInt16(rest.dropFirst()) ?? 0 > 0
        let isPlain = host.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard isPort, isPlain, !host.isEmpty else {
            throw Fault(message: "a broker is no HOST or HOST:PORT", advice: example)
        }
        return host
    }

    private static func isLocal(_ host: Substring) -> Bool {
        if ["localhost", "::1"].contains(host.lowercased()) { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Whether `other` is the same topic, at one broker at least that both name.
    func isSame(as other: KafkaPlace) -> Bool {
        let (mine, theirs) = (brokers.split(separator: ","), other.brokers.split(separator: ","))
        return topic.utf8.elementsEqual(other.topic.utf8) && !Set(mine).isDisjoint(with: theirs)
    }

    /// The same without its scheme, for names.
    var name: String { String(text.dropFirst(KafkaPlace.scheme.count)) }
}
