package import KymographCore

/// A notification or indication that a tool has recorded.
package struct CapturedPacket: Sendable, Equatable {
    /// How the tool names the characteristic.
    package enum Name: Sendable, Equatable {
        /// By the handle of its value.
        case handle(UInt16)
        /// By its number, as the tool writes it.
        case uuid(String)
    }

    /// Address of the device, or nil when the tool does not tell it.
    package var device: IdentifierText?
    /// The characteristic.
    package var name: Name
    /// When it was received, or nil when the tool does not tell it.
    package var time: Instant?
    /// The packet.
    package var value: [UInt8]

    /// Makes a packet.
    package init(device: IdentifierText? = nil, name: Name, time: Instant? = nil, value: [UInt8]) {
        self.device = device
        self.name = name
        self.time = time
        self.value = value
    }

    /// The frame of a bridge for it in JSON, without a newline (docs/gatt.md). `device` stands for a device that is
    /// not known; times are told `offsetMinutes` ahead of UTC.
    package func frame(device fallback: IdentifierText?, offsetMinutes: Int16) -> [UInt8] {
        var writer = ByteWriter(capacity: 256)
        writer.append("{")
        if let device = device ?? fallback {
            writer.append("\"device\":\"")
            writer.appendJSON(device.text)
            writer.append("\",")
        }
        switch name {
        case .handle(let handle): writer.append(Array("\"handle\":\(handle),".utf8))
        case .uuid(let uuid): writer.append(Array("\"characteristic\":\"\(uuid)\",".utf8))
        }
        if let time {
            writer.append("\"time\":\"")
            writer.append(time, TimeForm(offsetMinutes: offsetMinutes))
            writer.append("\",")
        }
        writer.append("\"value\":\"")
        writer.append(value.flatMap { [CapturedPacket.digit($0 >> 4), CapturedPacket.digit($0 & 15)] })
        writer.append("\"}")
        return writer.view.array
    }

    private static func digit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
    }
}
