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
        let seconds = Int(time.nanoseconds / 1_000_000_000)
        object.add("time", seconds)
        Self.add(found.series, to: &object, from: seconds * 1_000)
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

    /// Of each series its number, the time of the latest reading, and its value or null, each in a list of its own.
    /// Times are milliseconds: that of the first since `start`, which is the time of the slice, each other since the
    /// one before it in the list, since devices of a ward send at about one time.
    private static func add(_ series: [NewestReadings.Series], to object: inout JSONMembers, from start: Int) {
        var (runs, times, former) = (NumberRuns(), [Int](), start)
        var values = ByteWriter(capacity: 4 * series.count + 2)
        values.append("[")
        for one in series {
            runs.append(one.number)
            let time = Int(one.last.nanoseconds / 1_000_000)
            times.append(time - former)
            former = time
            if times.count > 1 { values.append(",") }
            if let value = one.value { values.append(value) } else { values.append("null") }
        }
        values.append("]")
        object.add("series", numbers: runs.lengths)
        object.add("times", numbers: times)
        object.add("values", json: values.view.array)
    }
}
