import KymographCore

/// What a tap has taken out of the pipeline: copies, which are written as text on the tap's own thread.
enum TapEvent: Sendable {
    case payload(TappedPayload)
    case measurement(TappedMeasurement)
    case observation(TappedResource)

    /// Bytes that it keeps in memory, about.
    var byteCount: Int {
        switch self {
        case .payload(let payload): 256 + payload.bytes.count
        case .measurement(let measurement): 256 + measurement.payload.count + measurement.key.count
        case .observation(let resource): 256 + resource.body.count
        }
    }
}

/// A payload, and what its mapping has made of it.
struct TappedPayload: Sendable {
    /// Most bytes that are kept.
    static let mostBytes = 16 << 10

    var received: Instant
    /// Number of the source.
    var source: Int
    /// Its size.
    var size: Int
    /// Its first bytes, at most ``mostBytes``.
    var bytes: [UInt8]
    var outcome: PayloadOutcome
}

/// What a mapping has made of one payload.
struct PayloadOutcome: Sendable {
    /// Most types that are named.
    static let mostTypes = 16

    /// Readings that it gave.
    var readings = 0
    /// Their types, the first ones.
    var types: [String] = []
    /// Why it, or a part of it, was rejected: the first reason.
    var rejection: Rejection?
}

/// A reading as its mapping has made it.
struct TappedMeasurement: Sendable {
    var source: Int
    var type: MeasurementType
    var measurement: Measurement
    /// Its ``ValueRecord``s.
    var payload: [UInt8]
    /// Its ``SeriesKey``.
    var key: [UInt8]
}

/// A resource on its way to the sinks.
struct TappedResource: Sendable {
    /// Most bytes of a body that are kept.
    static let mostBytes = 64 << 10

    var time: Instant
    /// The type of its readings; nil of resources that are of none.
    var type: String?
    var resourceType: String
    var device: [UInt8]?
    var patient: [UInt8]?
    /// Bytes of the body without its references.
    var size: Int
    /// The resource in JSON; empty when it is larger than ``mostBytes``.
    var body: [UInt8]
}
