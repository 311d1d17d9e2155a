/// A Heart Rate Measurement (2A37) whose fields are read without writing an object: the packet that sensors send most,
/// one each second. Says what ``PacketDecoder/decodeHeartRate(_:_:)`` writes of it, where nothing else is looked at.
struct HeartRatePacket: BitwiseCopyable {
    /// Beats per minute.
    let rate: Int64
    /// Which members its object has, and what they say, but for numbers, times and the device: the low bits of its
    /// flags, and what its frame tells.
    let form: Int
    /// The device that a frame names; empty when there is none.
    let device: ByteView
    /// When the packet came.
    let time: PacketTime

    /// Number of forms.
    static let forms = 64

    /// Reads `bytes`; nil when they are no complete packet, when intervals are in it that `writesIntervals` asks for,
    /// or when the device's name is written with escapes.
    @inline(__always)
    init?(_ bytes: ByteView, _ head: PacketHead, writesIntervals: Bool) {
        guard bytes.count >= 2, !head.deviceIsEscaped else { return nil }
        let flags = bytes[0]
        let isWide = flags & 1 != 0
        let end = 2 &+ (isWide ? 1 : 0) &+ (flags & 8 != 0 ? 2 : 0)
        let left = bytes.count &- end
        guard left >= 0 else { return nil }
        if flags & 16 != 0, writesIntervals || left == 0 || left & 1 != 0 { return nil }
        if let device = head.device, !HeartRatePacket.isPlain(device) { return nil }
        rate = Int64(bytes[1]) | (isWide ? Int64(bytes[2]) &<< 8 : 0)
        form = Int(flags & 15) | (head.device == nil ? 0 : 16) | (head.sequence == nil ? 0 : 32)
        device = head.device ?? ByteView("")
        time = head.arrival
    }

    /// Whether a name is written in JSON as it is.
    @inline(__always)
    private static func isPlain(_ name: ByteView) -> Bool {
        for index in 0..<name.count {
            let byte = name[index]
            if byte < 0x20 || byte >= 0x80 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return false }
        }
        return true
    }
}
