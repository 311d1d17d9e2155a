package import KymographCore

/// What came of a patient or device, bucket by bucket.
package struct Timeline: Sendable {
    /// Rejected readings of a series in an hour (UTC) by their own times; what is unknown or wrong of these, by the
    /// time of receipt. The store counts no finer.
    package struct RejectedHour: Sendable, Equatable {
        /// The hour's start, in seconds since the epoch.
        package var start: Int64
        /// Name of the ``Rejection``.
        package var reason: String
        /// Readings.
        package var count: Int
    }

    /// Readings of one device and type, of one patient and encounter. Lists have a place for each bucket.
    package struct Series: Sendable {
        /// The store's number of it.
        package var number: Int
        /// Name of the type.
        package var type: String
        /// Device.
        package var device: IdentifierText
        /// Patient, if the readings name one.
        package var patient: IdentifierText?
        /// Nanoseconds between readings; nil of a series without a rhythm, of which nothing is known to be missing.
        package var interval: Int64?
        /// Readings of closed and open windows.
        package var accepted: [Int]
        /// Readings that a rhythm would have, and that are not there.
        package var missing: [Int]
        /// Rejected readings, in the bucket where their hour begins. All 0 where buckets are shorter than an hour.
        package var rejected: [Int]
        /// Readings of windows that the archive has dropped, as ``rejected``.
        package var dropped: [Int]
        /// Windows that were written again with other readings, in the bucket where they begin.
        package var amended: [Int]
        /// Closed windows, in the bucket where they begin.
        package var windows: [Int]
        /// Readings that are in open windows.
        package var open = 0
        /// Windows whose readings are damaged: they are not counted.
        package var damaged = 0
        /// The hours of the span that have rejected readings, in order.
        package var rejectedHours: [RejectedHour] = []
    }

    /// What a limit cut off.
    package enum Cut: String, Sendable, CaseIterable {
        /// There are more series.
        case series
        /// The span has more buckets: it ends earlier.
        case buckets
        /// There are more dead letters.
        case letters
    }

    /// How long buckets are.
    package var bucket: TimelineBucket
    /// The time zone.
    package var zone: String
    /// Where buckets begin, and where the last one ends, in seconds since the epoch.
    package var boundaries: [Int64]
    /// The series, by device and type.
    package var series: [Series] = []
    /// Dead letters that came in the span, of whatever device: of most it is not known.
    package var letters: [StoredLetter] = []
    /// What limits cut off.
    package var partial: Set<Cut> = []

    /// How many buckets there are.
    package var count: Int { boundaries.count - 1 }

    /// The bucket that has `seconds`; nil outside of all.
    func bucket(of seconds: Int64) -> Int? {
        guard let first = boundaries.first, let last = boundaries.last, seconds >= first, seconds < last else {
            return nil
        }
        var (low, high) = (0, boundaries.count - 1)
        while high - low > 1 {
            let middle = (low + high) / 2
            if boundaries[middle] <= seconds { low = middle } else { high = middle }
        }
        return low
    }
}

extension Timeline.Series {
    /// Without readings, in `count` buckets.
    init(number: Int, type: String, device: IdentifierText, patient: IdentifierText?, count: Int) {
        (self.number, self.type, self.device, self.patient) = (number, type, device, patient)
        let none = [Int](repeating: 0, count: count)
        (accepted, missing, rejected, dropped, amended, windows) = (none, none, none, none, none, none)
    }
}

extension Timeline {
    /// The form of docs/timeline.md, without layout.
    package var json: [UInt8] {
        var object = JSONMembers()
        object.add("bucket", bucket.rawValue)
        object.add("zone", zone)
        object.add("boundaries", numbers: boundaries.map(Int.init))
        object.add("series", list: series.map(\.json))
        object.add("letters", list: letters.map(\.summaryJSON))
        object.add("partial", list: partial.map(\.rawValue).sorted().map { Array("\"\($0)\"".utf8) })
        return object.finished()
    }
}

extension Timeline.Series {
    fileprivate var json: [UInt8] {
        var object = JSONMembers()
        object.add("number", number)
        object.add("type", type)
        object.add("device", device.text)
        object.add("patient", patient?.text)
        if let interval { object.add("intervalMilliseconds", Int(interval / 1_000_000)) }
        let lists: [(StaticString, [Int])] = [
            ("accepted", accepted), ("missing", missing), ("rejected", rejected), ("dropped", dropped),
            ("amended", amended), ("windows", windows),
        ]
        for (name, list) in lists { object.add(name, numbers: list) }
        object.add("open", open)
        object.add("damaged", damaged)
        object.add("rejectedHours", list: rejectedHours.map(\.json))
        return object.finished()
    }
}

extension Timeline.RejectedHour {
    fileprivate var json: [UInt8] {
        var object = JSONMembers()
        object.add("start", Int(start))
        object.add("reason", reason)
        object.add("count", count)
        return object.finished()
    }
}

extension StoredLetter {
    /// The letter without its bytes.
    fileprivate var summaryJSON: [UInt8] {
        var object = JSONMembers()
        object.add("number", Int(number))
        object.add("at", at.text)
        object.add("kind", kind)
        object.add("reason", reason)
        object.add("source", source)
        object.add("detail", detail)
        object.add("replayed", replayed?.text)
        return object.finished()
    }
}
