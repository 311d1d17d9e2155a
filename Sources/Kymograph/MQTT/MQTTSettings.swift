import KymographCore

/// What a client of a broker asks for.
package struct MQTTSettings: Hashable, Sendable {
    /// Contents of the status topic.
    static let (online, offline) = ("online", "offline")
    /// Longest client id, user name or topic, in bytes.
    package static let longestText = 65_535

    /// The version that it speaks.
    package var version = MQTTVersion.v5
    /// What it subscribes to.
    package var topics: [TopicFilter] = []
    /// How surely messages are to come, at most.
    package var quality = MQTTQuality.atLeastOnce
    /// The name by which the broker knows the session; nil for one of the host's and the source's names.
    package var clientID: String?
    /// The name of the user; nil for none.
    package var user: String?
    /// The file of the user's password.
    package var passwordFile: String?
    /// Nanoseconds without a packet after which the broker may take the client for lost.
    package var keepAlive: Int64 = 30_000_000_000
    /// Nanoseconds that the broker keeps the session without a connection; version 5 only.
    package var sessionExpiry: Int64 = 7 * 86_400_000_000_000
    /// Most messages that are not acknowledged; version 5 only.
    package var receiveMaximum = 2_048
    /// Whether several clients may share a subscription, each of which gets a part.
    package var isSharded = false
    /// Where it says that it is there; nil for nowhere.
    package var statusTopic: String?

    /// The defaults, without topics.
    package init() {}

    /// Whether a broker keeps what comes while there is no connection.
    var keepsMessages: Bool { quality != .atMostOnce && (version != .v5 || sessionExpiry > 0) }

    /// Whether a topic names the device or patient of a message.
    package var namesSenders: Bool { topics.contains { $0.namesDevice || $0.namesPatient } }

    /// ``keepAlive`` as packets have it.
    var keepAliveSeconds: UInt16 { UInt16(clamping: max(1, keepAlive / 1_000_000_000)) }

    /// ``sessionExpiry`` as packets have it; the largest number would be for ever.
    var sessionSeconds: UInt32 { UInt32(clamping: sessionExpiry / 1_000_000_000) }

    /// The client id of a source called `name`: the same at each start on one host. Each broker takes letters and
    /// digits up to 23 (MQTT 3.1.1, section 3.1.3.1).
    package func clientID(of name: String) -> String {
        if let clientID { return clientID }
        let host = FileSystem.content("/proc/sys/kernel/hostname").map { String(decoding: $0, as: UTF8.self) } ?? ""
        let letters = host.prefix { $0 != "\n" }.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        // FNV-1a: nothing secret, and short.
        let hash = Array("\(host)\0\(name)".utf8).reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        let digits = String(hash, radix: 16)
        return "kymo\(letters.prefix(11))\(String(repeating: "0", count: 8 - digits.count))\(digits)"
    }

    /// The password.
    ///
    /// - Throws: ``SecretFault`` when the file cannot be read, or others can read it.
    func password() throws(SecretFault) -> [UInt8]? {
        guard let passwordFile else { return nil }
        return Array(try SecretFile(passwordFile).line().0.utf8)
    }
}
