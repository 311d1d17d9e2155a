/// One frame of a bridge: a packet, and whose it is. Views are valid until the reader's next frame.
struct BridgeFrame {
    /// How a frame names the characteristic.
    enum Name {
        /// By its number.
        case uuid(BluetoothUUID)
        /// By the handle that the device's attribute table gives it.
        case handle(UInt16)
    }

    var name: Name
    var value: ByteView
    var device: ByteView?
    var deviceIsEscaped = false
    var time: PacketTime?
    var sequence: UInt64?
    /// Value of CGM Session Start Time, `2AAA`.
    var session: ByteView?
    /// Value of CGM Feature, `2AA8`.
    var feature: ByteView?

    /// Whether records of a continuous glucose monitor end with a checksum: bit 12 of its features; nil when the frame
    /// does not tell them.
    func hasChecksum() throws(PacketFailure) -> Bool? {
        guard let feature else { return nil }
        var reader = PacketReader(feature)
        let bits = try reader.unsigned(3)
        return bits >> 12 & 1 == 1
    }
}
