/// A version of MQTT, by the number that a client states in its first packet.
package enum MQTTVersion: UInt8, Hashable, Sendable {
    /// MQTT 3.1.1 (OASIS, 2014).
    case v311 = 4
    /// MQTT 5.0 (OASIS, 2019).
    case v5 = 5
}

/// How surely a message comes.
package enum MQTTQuality: UInt8, Comparable, Hashable, Sendable {
    /// Once or not at all.
    case atMostOnce = 0
    /// Again until it is acknowledged.
    case atLeastOnce = 1
    /// Acknowledged in two steps.
    case exactlyOnce = 2

    /// Whether `one` promises less.
    package static func < (one: MQTTQuality, other: MQTTQuality) -> Bool { one.rawValue < other.rawValue }
}
