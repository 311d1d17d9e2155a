/// What is known of a packet besides its bytes: what a bridge's frame says, or nothing but when it came.
struct PacketHead {
    /// The device's identifier, or nil when the frame names none.
    var device: ByteView?
    /// Whether ``device`` is written as JSON writes it, with escapes.
    var deviceIsEscaped = false
    /// The text of the characteristic's number.
    var characteristic: ByteView
    /// When the bridge received it; without a bridge, when it came.
    var received: Instant
    /// Minutes from UTC of the bridge's clock, or ``UTCOffset/none``: what device clocks are told by.
    var offsetMinutes = UTCOffset.none
    /// The bridge's number of the frame, or nil.
    var sequence: UInt64?
    /// When a continuous glucose monitor began to count minutes.
    var session: SessionStart?
    /// Whether records of a continuous glucose monitor end with a checksum; nil when nobody said.
    var hasChecksum: Bool?

    /// The time of a packet without a clock: when it came.
    var arrival: PacketTime { PacketTime(instant: received, offsetMinutes: offsetMinutes) }

    /// The time that `clock` shows, told by the bridge's offset; that of arrival where the packet has no clock; nil
    /// where its clock cannot be told.
    func time(_ clock: DeviceClock?, minutesLater: Int = 0) -> PacketTime? {
        guard let clock else { return arrival }
        return clock.instant(offsetMinutes: offsetMinutes, minutesLater: minutesLater).map {
            PacketTime(instant: $0, offsetMinutes: offsetMinutes)
        }
    }
}

/// A point in time and the offset by which it is told.
struct PacketTime: BitwiseCopyable {
    var instant: Instant
    var offsetMinutes: Int16
}
