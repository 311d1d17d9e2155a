/// Takes plain readings of a ``Mapper``.
package protocol PlainReadingOutput: ~Copyable {
    /// A normalised reading that is plain, of the series with this key, as nearly all are: small enough for registers.
    /// `template` gave it, by its number in the mapping set. False when nothing has happened, and the reading comes by
    /// ``accept(_:payload:key:template:)`` then.
    mutating func take(_ reading: PlainReading, key: ShortKey, template: Int32) -> Bool
}

/// Takes what a ``Mapper`` makes of a payload. A generic parameter of the mapper's calls, never an existential.
package protocol MeasurementOutput: PlainReadingOutput, ~Copyable {
    /// A normalised reading. `payload` holds its ``ValueRecord``s; `key` is its ``SeriesKey`` encoding, both valid only
    /// during the call. `template` has given it, or the first part of it, by its number in the mapping set.
    ///
    /// - Returns: nil when it was taken, else why not; the mapper then reports the rejection with the reading's bytes.
    mutating func accept(
        _ measurement: Measurement, payload: ByteView, key: ByteView, template: Int32
    ) -> Rejection?

    /// A retraction, whose ``Tombstone`` content `payload` is, of a reading of the device and type of `key`. Those of a
    /// document come before its readings, and ``endRetractions()`` after them.
    ///
    /// - Returns: nil when it was taken, else why not.
    mutating func retract(_ record: Measurement, payload: ByteView, key: ByteView, template: Int32) -> Rejection?

    /// A document that may have had retractions has ended.
    mutating func endRetractions()

    /// A payload, or a match in it, that gave no reading. `bytes` is the original text of what was rejected.
    mutating func reject(_ reason: Rejection, bytes: ByteView, detail: RejectionDetail)
}

extension MeasurementOutput where Self: ~Copyable {
    /// Has no way of its own for them.
    @inline(__always)
    package mutating func take(_ reading: PlainReading, key: ShortKey, template: Int32) -> Bool { false }

    /// Default: ignored.
    package mutating func retract(
        _ record: Measurement, payload: ByteView, key: ByteView, template: Int32
    ) -> Rejection? { nil }

    /// Default: ignored.
    package mutating func endRetractions() {}
}

/// Which part of a mapping rejected a reading; turned into text only when a dead letter is written.
package struct RejectionDetail: BitwiseCopyable, Sendable {
    /// The parts of a device template that can fail.
    package enum Field: UInt8, Sendable, BitwiseCopyable {
        /// No particular field.
        case none
        /// `typeMatchExpression`.
        case match
        /// `deviceIdExpression`.
        case device
        /// `timestampExpression`.
        case timestamp
        /// `startExpression`.
        case start
        /// `readingIdExpression`.
        case readingId
        /// `patientIdExpression`.
        case patient
        /// `encounterIdExpression`.
        case encounter
        /// `correlationIdExpression`.
        case correlation
        /// An entry of `values`.
        case value
    }

    /// Index of the device template in the mapping set, or -1.
    package var template: Int32
    /// The field.
    package var field: Field
    /// Index of the entry in the template's `values` when the field is a value.
    package var value: Int32
    /// Byte offset in the payload when the scanner refused it, else -1.
    package var offset: Int32

    /// Makes a detail.
    package init(template: Int = -1, field: Field = .none, value: Int = 0, offset: Int = -1) {
        self.template = Int32(template)
        self.field = field
        self.value = Int32(value)
        self.offset = Int32(clamping: offset)
    }
}

/// What a source contributes to its readings.
package struct SourceContext: Sendable {
    /// Device of readings that name none; empty for "reject them".
    package var defaultDevice: [UInt8]
    /// Patient of readings that name none; empty for none.
    package var defaultPatient: [UInt8]
    /// Whether a reading without patient is rejected (`identity: strict`).
    package var requiresPatient: Bool
    /// How far, in nanoseconds, a reading's time may lie after its receipt.
    package var maxFuture: Int64
    /// The wall clock by which times without an offset are read; nil for UTC.
    package var timezone: LocalTimeZone?

    /// `time` by the source's wall clock, if it has no offset; nil when that shows it twice or never.
    @inline(__always)
    func settled(_ time: Timestamp) -> Timestamp? {
        time.isLocal && timezone != nil ? timezone?.settled(time) : time
    }

    /// Makes a context; the default tolerates clocks that are 5 minutes fast.
    package init(
        defaultDevice: [UInt8] = [], defaultPatient: [UInt8] = [], requiresPatient: Bool = false,
        maxFuture: Int64 = 300_000_000_000, timezone: LocalTimeZone? = nil
    ) {
        self.defaultDevice = defaultDevice
        self.defaultPatient = defaultPatient
        self.requiresPatient = requiresPatient
        self.maxFuture = maxFuture
        self.timezone = timezone
    }
}
