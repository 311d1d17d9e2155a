/// The archive's format of a closed window, version 1.
///
/// One byte version, varint number of readings, one byte time unit (0 ns, 1 µs, 2 ms, 3 s), the readings, and a 32-bit
/// little-endian checksum of everything before it. A reading is a control byte, then as far as the control byte says:
///
/// - instant: zigzag varint difference to the previous one's, in units; absent when the step is the previous step
/// - receive time: zigzag varint difference in ns to the previous one's, or to that plus the step; absent when the same
/// - shape: presence byte, then one exponent byte per inline number
/// - mark byte; UTC offset as zigzag varint
/// - per inline number, zigzag varint difference to the mantissa last seen in its slot
/// - varint payload length and the bytes; then receive times per value, if the mark says so
///
/// Differences wrap around, so that every 64-bit value survives. A simple reading takes 4 to 8 bytes.
///
/// A number of readings that is one byte longer than it has to be, in this version as in version 3, says that the
/// window is unshown: rules have kept all its versions from every sink, or it has no readings and never had a version.
/// What does not say so may have been sent.
/// Programs that do not know of it read the same readings; and the window that one of them writes, and may send, says
/// it no more.
enum WindowBlockFormat {
    static let version: UInt8 = 1
    static let checksumBytes = 4
    /// Bytes of a block without readings and checksum.
    static let fewestBytes = 3
    /// Nanoseconds of the time units.
    static let units: [Int64] = [1, 1_000, 1_000_000, 1_000_000_000]

    // Control byte. The two lowest bits tell how the receive time is coded.
    static let receivedSame: UInt8 = 0
    static let receivedStep: UInt8 = 1
    static let receivedWithInstant: UInt8 = 2
    static let receivedMask: UInt8 = 3
    static let sameStep: UInt8 = 4
    static let shape: UInt8 = 8
    static let mark: UInt8 = 16
    static let offset: UInt8 = 32
    static let payload: UInt8 = 64
    static let known: UInt8 = 127

    /// `block` without its checksum; nil when that is wrong.
    static func content(of block: ByteView) -> ByteView? {
        let size = block.count - checksumBytes
        guard size >= fewestBytes else { return nil }
        var found: UInt32 = 0
        for byte in 0..<checksumBytes { found |= UInt32(block[size + byte]) << UInt32(byte * 8) }
        return found == checksum(block[0..<size]) ? block[0..<size] : nil
    }

    /// Whole units in `nanoseconds`, rounded towards zero. A switch over constants, because dividing by a variable
    /// costs several times as much.
    @inline(__always)
    static func whole(_ nanoseconds: Int64, unit: Int) -> Int64 {
        switch unit {
        case 0: nanoseconds
        case 1: nanoseconds / 1_000
        case 2: nanoseconds / 1_000_000
        default: nanoseconds / 1_000_000_000
        }
    }

    /// Whether `nanoseconds` are whole units.
    @inline(__always)
    static func isWhole(_ nanoseconds: Int64, unit: Int) -> Bool {
        switch unit {
        case 0: true
        case 1: nanoseconds % 1_000 == 0
        case 2: nanoseconds % 1_000_000 == 0
        default: nanoseconds % 1_000_000_000 == 0
        }
    }

    /// A checksum that any change of up to eight neighbouring bytes alters, except for one in 2^32.
    static func checksum(_ bytes: ByteView) -> UInt32 {
        var hash: UInt64 = 0x9E37_79B9_7F4A_7C15 ^ UInt64(bytes.count)
        var index = 0
        while index <= bytes.count &- 8 {
            hash = (hash ^ bytes.word(at: index)) &* 0xBF58_476D_1CE4_E5B9
            hash ^= hash >> 29
            index &+= 8
        }
        while index < bytes.count {
            hash = (hash ^ UInt64(bytes[index])) &* 0xBF58_476D_1CE4_E5B9
            hash ^= hash >> 29
            index += 1
        }
        return UInt32(truncatingIfNeeded: hash ^ (hash >> 32))
    }
}

/// What encoder and decoder remember of the reading before.
struct WindowBlockContext {
    var previous = Measurement(instant: Instant(nanoseconds: 0), received: Instant(nanoseconds: 0))
    /// The last instant, in units.
    var tick: Int64 = 0
    /// Difference of the last two instants, in units.
    var step: Int64 = 0
}
