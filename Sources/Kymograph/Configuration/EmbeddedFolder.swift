import KymographCore

/// One file as the build embedded it.
struct EmbeddedFile: Sendable {
    /// Path inside the folder, such as `examples/normal.in.json`.
    let path: StaticString
    /// Bytes of its content.
    let count: Int
}

/// A folder as the build embedded it: EmbedMappings generates `mappings` from the folders of `mappings/`, and `console`
/// from `console/`.
struct EmbeddedFolder: Sendable {
    /// Name of the folder.
    let name: StaticString
    /// Every file, in order of path; of a mapping device.json and fhir.json come first.
    let files: [EmbeddedFile]
    /// The content of the files one behind the other: a zstd frame in base64.
    let content: StaticString

    /// The files.
    var unpacked: [(path: String, bytes: [UInt8])] {
        let bytes = unpackedContent()
        var place = 0
        return files.map { file in
            defer { place += file.count }
            return (file.path.description, Array(bytes[place..<(place + file.count)]))
        }
    }

    private func unpackedContent() -> [UInt8] {
        var packed = ByteWriter(capacity: content.utf8CodeUnitCount)
        var unpacked = ByteWriter(capacity: 65_536)
        let room = files.reduce(1) { $0 + $1.count }
        var place = 0
        // The build made it, so that neither can fail.
        guard PacketText.appendBase64(ByteView(content), to: &packed),
            (try? ZstdInput().decompress(packed.view, from: &place, to: &unpacked, room: room)) != nil,
            unpacked.count == room - 1
        else { fatalError("the files in this program are damaged") }
        return unpacked.view.array
    }
}
