/// Limits of the associations of a UDP socket that speaks DTLS.
package struct AssociationLimits: Hashable, Sendable {
    /// Most at a time, those whose handshake goes on included.
    package var most = 10_000
    /// Most of one host.
    package var mostOfHost = 1_000
    /// Handshakes that may begin a second, and at once.
    package var handshakesPerSecond = 100
    /// Those of one host, so that it leaves some to others.
    var handshakesOfHostPerSecond: Int { max(handshakesPerSecond / 2, 1) }
    /// Nanoseconds after which one that sends nothing is ended.
    package var idle: Int64 = 3_600_000_000_000

    /// The defaults.
    package init() {}
}
