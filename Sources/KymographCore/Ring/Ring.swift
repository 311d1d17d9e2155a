public import Synchronization

/// An atomic on cache lines of its own, so that the two threads of a ring do not invalidate each other's lines.
@usableFromInline
struct PaddedAtomic: ~Copyable, Sendable {
    private let before: InlineArray<14, UInt64> = .init(repeating: 0)
    @usableFromInline let value: Atomic<UInt64>
    private let after: InlineArray<17, UInt64> = .init(repeating: 0)

    init(_ initial: UInt64) { value = Atomic(initial) }
}

/// A lock-free ring of 64-byte slots between one lane and one shard.
///
/// ### Fixed capacity
/// It never grows: a full ring is backpressure on its lane. A record is a measurement or definition slot and its
/// continuation slots; it never wraps, so that its payload can be viewed in place.
///
/// ### One writer, one reader
/// Only the ``RingProducer`` stores positions to `head`, only the ``RingConsumer`` to `tail`; release stores and
/// acquire loads order the slots' contents. That is all the synchronisation there is.
///
/// Both ends are inlinable: a record that is copied in and out of a call into another module costs more than the ring.
@usableFromInline
package final class Ring: Sendable {
    @usableFromInline let slots: SlotMemory
    /// Slots ever published.
    @usableFromInline let head = PaddedAtomic(0)
    /// Slots ever released.
    @usableFromInline let tail = PaddedAtomic(0)

    /// Makes a ring of `capacity` slots, a power of two of at least 512. A record takes at most half of them.
    package init(capacity: Int = 8_192) {
        precondition(capacity >= 512)
        slots = SlotMemory(count: capacity)
    }

    /// Whether everything published has been released. Callable from any thread.
    package var isEmpty: Bool {
        tail.value.load(ordering: .acquiring) == head.value.load(ordering: .acquiring)
    }

    /// Slots in use. Callable from any thread; approximate while both sides work.
    package var usedSlots: Int {
        let used = head.value.load(ordering: .relaxed) &- tail.value.load(ordering: .relaxed)
        return Int(clamping: used)
    }

    /// Number of slots.
    package var capacity: Int { slots.count }
}

/// The lane's end of a ring.
@usableFromInline
package struct RingProducer: ~Copyable {
    @usableFromInline let ring: Ring
    @usableFromInline let mask: UInt64
    /// Position of the next slot to write; ahead of the published head.
    @usableFromInline var position: UInt64
    @usableFromInline var published: UInt64
    /// The last tail seen; the real one can only be further.
    @usableFromInline var knownTail: UInt64

    /// Slots after which records should be published, so that the shard works while a batch is mapped.
    @inlinable static var publishInterval: UInt64 { 128 }

    /// Takes the writing end of `ring`; there must be only one.
    package init(_ ring: Ring) {
        self.ring = ring
        mask = UInt64(ring.capacity - 1)
        position = ring.head.value.load(ordering: .relaxed)
        published = position
        knownTail = ring.tail.value.load(ordering: .acquiring)
    }

    /// Writes a record, and publishes now and then. False, and nothing is written, when the ring is full: publish, wake
    /// the shard, try again.
    @inlinable
    @inline(__always)
    package mutating func write(_ record: Measurement, payload: ByteView) -> Bool {
        guard write(record, series: record.series, payload: payload) else { return false }
        if isDue { publish() }
        return true
    }

    /// Whether so much was written that the shard should see it, though the batch has not ended.
    @inlinable
    @inline(__always)
    var isDue: Bool { position &- published >= RingProducer.publishInterval }

    /// Writes a record of the series that has this number in the ring. It is not visible before the next
    /// ``publish()``.
    @inlinable
    @inline(__always)
    mutating func write(_ record: Measurement, series: UInt32, payload: ByteView) -> Bool {
        guard payload.count == 0, !record.hasPayload else {
            return writeLong(record, series: series, payload: payload)
        }
        guard hasSlot() else { return false }
        ring.slots.store(record, series: series, at: Int(truncatingIfNeeded: position & mask))
        position &+= 1
        return true
    }

    /// The same for a plain reading.
    @inline(__always)
    mutating func write(_ reading: PlainReading, series: UInt32) -> Bool {
        guard hasSlot() else { return false }
        ring.slots.store(reading, series: series, at: Int(truncatingIfNeeded: position & mask))
        position &+= 1
        return true
    }

    /// Prefetches the slot that is `slots` after the next one, for which there must be room: the shard,
    /// which has read what was there before, has it.
    @inline(__always)
    func prefetch(slotsAhead slots: Int) {
        ring.slots.prefetchForWriting(Int(truncatingIfNeeded: (position &+ UInt64(slots)) & mask))
    }

    @inlinable
    @inline(__always)
    mutating func hasSlot() -> Bool {
        if position &- knownTail <= mask { return true }
        knownTail = ring.tail.value.load(ordering: .acquiring)
        return position &- knownTail <= mask
    }

    @usableFromInline
    mutating func writeLong(_ record: Measurement, series: UInt32, payload: ByteView) -> Bool {
        let extra = record.continuationSlots
        precondition(payload.count == record.payloadBytes)
        guard makeRoom(slots: UInt64(extra + 1)) else { return false }
        let index = Int(position & mask)
        ring.slots.store(record, series: series, at: index)
        if extra > 0 { ring.slots.store(payload, at: index + 1) }
        position += UInt64(extra + 1)
        return true
    }

    /// Bytes of a payload that any ring can hold.
    static var alwaysFits: Int { 255 * SlotMemory.slotBytes }

    /// Whether a record with `payload` takes no more than half of the slots: then it fits once the ring is empty,
    /// wherever its end is.
    func canHold(_ payload: ByteView) -> Bool {
        payload.count + SlotMemory.slotBytes <= ring.capacity / 2 * SlotMemory.slotBytes
    }

    /// Ensures `count` slots in one piece, padding the end of the ring if need be.
    @inline(__always)
    private mutating func makeRoom(slots count: UInt64) -> Bool {
        let toEnd = (mask + 1) - (position & mask)
        let padding = count > toEnd ? toEnd : 0
        if position + padding + count - knownTail > mask + 1 {
            knownTail = ring.tail.value.load(ordering: .acquiring)
            if position + padding + count - knownTail > mask + 1 { return false }
        }
        if padding > 0 {
            var filler = Measurement(instant: .distantPast, received: .distantPast)
            filler.kind = RecordKind.padding.rawValue
            ring.slots.store(filler, at: Int(position & mask))
            position += padding
        }
        return true
    }

    /// Whether records of up to `count` slots in all can be written.
    @inline(__always)
    mutating func hasRoom(slots count: UInt64) -> Bool {
        if position &+ count &- knownTail <= mask &+ 1 { return true }
        knownTail = ring.tail.value.load(ordering: .acquiring)
        return position &+ count &- knownTail <= mask &+ 1
    }

    /// Slots written so far.
    var written: UInt64 { position }

    /// Makes everything written visible to the shard. True when there was something new.
    @inlinable
    @inline(__always)
    @discardableResult
    package mutating func publish() -> Bool {
        guard position != published else { return false }
        published = position
        ring.head.value.store(position, ordering: .releasing)
        return true
    }
}

/// The shard's end of a ring.
@usableFromInline
package struct RingConsumer: ~Copyable {
    @usableFromInline let ring: Ring
    @usableFromInline let mask: UInt64
    @usableFromInline var position: UInt64
    @usableFromInline var released: UInt64
    @usableFromInline var knownHead: UInt64

    /// Takes the reading end of `ring`; there must be only one.
    package init(_ ring: Ring) {
        self.ring = ring
        mask = UInt64(ring.capacity - 1)
        position = ring.tail.value.load(ordering: .relaxed)
        released = position
        knownHead = position
    }

    /// The next record, or nil when the ring is empty. Its payload stays valid until ``release()``.
    @inlinable
    @inline(__always)
    package mutating func next() -> Measurement? {
        while true {
            if position == knownHead {
                knownHead = ring.head.value.load(ordering: .acquiring)
                if position == knownHead { return nil }
            }
            let index = Int(position & mask)
            let record = ring.slots.load(index)
            if record.kind == RecordKind.padding.rawValue {
                position += mask + 1 - UInt64(index)
                continue
            }
            position += UInt64(record.continuationSlots) + 1
            return record
        }
    }

    /// The next record if that is at hand and a plain reading; ``next()`` gives it again until it is skipped.
    @inline(__always)
    func plainReading() -> PlainReading? {
        position == knownHead ? nil : ring.slots.plainReading(Int(truncatingIfNeeded: position & mask))
    }

    /// Passes over the record that ``plainReading()`` has given.
    @inline(__always)
    mutating func skipPlainReading() { position &+= 1 }

    /// Writes what the records from `place` on are to the front of `records`, as many as fit, moves `place` behind
    /// them, and returns how many there are; 0 when the ring holds no more. The first place is ``taken``.
    mutating func lookAhead(from place: inout UInt64, _ records: inout RawArray<NextRecord>) -> Int {
        if place == knownHead { knownHead = ring.head.value.load(ordering: .acquiring) }
        var count = 0
        while count < records.count && place != knownHead {
            let record = ring.slots.load(Int(truncatingIfNeeded: place & mask))
            if record.kind == RecordKind.padding.rawValue {
                place &+= mask &+ 1 &- (place & mask)
                continue
            }
            // Records that follow are in the lane's cache.
            let later = place &+ 2 &* UInt64(truncatingIfNeeded: records.count)
            ring.slots.prefetch(Int(truncatingIfNeeded: later & mask))
            records[count] = NextRecord(record)
            count &+= 1
            place &+= UInt64(truncatingIfNeeded: record.continuationSlots) &+ 1
        }
        return count
    }

    /// The payload of the record that ``next()`` gave last.
    @inline(__always)
    package func payload(of record: Measurement) -> ByteView {
        guard record.hasPayload else { return ByteView("") }
        let start = (position - UInt64(record.continuationSlots)) & mask
        return ring.slots.view(Int(start), length: record.payloadBytes)
    }

    /// Slots whose records have been taken.
    var taken: UInt64 { position }

    /// Gives the slots of all records taken so far back to the lane.
    @inlinable
    @inline(__always)
    package mutating func release() {
        guard position != released else { return }
        released = position
        ring.tail.value.store(position, ordering: .releasing)
    }
}

/// What a record that is still in the ring says of the memory that it will need.
struct NextRecord: BitwiseCopyable {
    /// Its series; -1 when it is no reading, or when nothing is known of its series.
    var series: Int32
    /// Its time, if it is ``Measurement/isPlain``; others, which need a look at their windows, have the distant past.
    var instant: Instant

    /// None.
    static let none = NextRecord(series: -1, instant: .distantPast)

    private init(series: Int32, instant: Instant) { (self.series, self.instant) = (series, instant) }

    @inline(__always)
    init(_ record: Measurement) {
        let isReading = record.kind == RecordKind.measurement.rawValue
        series = isReading ? Int32(truncatingIfNeeded: record.series) : -1
        instant = record.isPlain ? record.instant : .distantPast
    }
}
