import KymographCore

/// What one look of ``WallFeed`` has found, as pages get it.
struct WallSlice: Sendable {
    private enum Content {
        case plain([UInt8])
        case packed(StoredBody)
    }

    /// Smaller ones stay as they are, in bytes: a compressor takes more memory than they do.
    private static let fewestBytes = 4_096

    /// Counts upwards by one a look.
    let id: Int
    private var content: Content

    /// The look called `id`, at `time`. It `isBeginning` where it has what the journal still had of open windows,
    /// however old, in place of what came in a second.
    init(_ id: Int, _ found: NewestReadings, at time: Instant, isBeginning: Bool) {
        self.id = id
        var object = JSONMembers()
        object.add("id", id)
        object.add("time", Int(time.nanoseconds / 1_000_000_000))
        object.add("readings", json: Self.json(found.series))
        object.add("isBeginning", if: isBeginning)
        // Before the first look, nothing is left out that was asked for.
        object.add("isPartial", if: found.isPartial && !isBeginning)
        content = .plain(object.finished())
    }

    /// A JSON object.
    var json: [UInt8] {
        switch content {
        case .plain(let bytes): return bytes
        case .packed(let body):
            let bytes = StoredBody.content(
                codec: body.codec.rawValue, key: body.key, checksum: Int64(body.checksum), bytes: body.bytes)
            guard let bytes else { preconditionFailure("what was packed in memory is no more what it was") }
            return bytes
        }
    }

    /// Bytes that it takes.
    var heldBytes: Int {
        switch content {
        case .plain(let bytes): bytes.count
        case .packed(let body): body.bytes.count
        }
    }

    /// Keeps it in fewer bytes from here on.
    mutating func pack() {
        guard case .plain(let bytes) = content, bytes.count >= Self.fewestBytes else { return }
        var compressor = BodyCompressor()
        content = .packed(compressor.body(bytes))
    }

    /// Of each series its number, how many readings came, the time of the latest in milliseconds since 1970, and its
    /// number or null.
    private static func json(_ series: [NewestReadings.Series]) -> [UInt8] {
        var list = Array("[".utf8)
        for one in series {
            if list.count > 1 { list.append(UInt8(ascii: ",")) }
            let value = one.value.map { "\($0.mantissa)e\($0.exponent)" } ?? "null"
            list += "[\(one.number),\(one.count),\(one.last.nanoseconds / 1_000_000),\(value)]".utf8
        }
        list.append(UInt8(ascii: "]"))
        return list
    }
}
