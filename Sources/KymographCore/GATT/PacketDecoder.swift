/// Decodes the values of characteristics into objects with named members. One per source; keeps nothing between packets
/// but the times of glucose records, to which their context belongs.
///
/// Flag bits that the specifications reserve are ignored, and so are bytes behind the last field that the flags
/// announce: both are how the SIG extends characteristics. What is shorter than its flags say is refused.
struct PacketDecoder: ~Copyable {
    var document: PacketDocument
    var records = GlucoseRecords()
    /// Whether anybody reads RR intervals.
    let writesIntervals: Bool
    let statusOrder: CGMStatusOrder
    /// The E2E-CRC of the CGM service.
    let checksum = FrameChecksum(.crc16mcrf4xx)

    init(_ needs: PacketNeeds, statusOrder: CGMStatusOrder) {
        document = PacketDocument(needs)
        writesIntervals = needs.all || needs.names.contains("rrInterval")
        self.statusOrder = statusOrder
    }

    /// Decodes `bytes`, a value of `characteristic`; its objects are in ``document``.
    ///
    /// - Throws: ``PacketFailure``; nothing is then in ``document``.
    mutating func decode(
        _ characteristic: GATTCharacteristic, _ bytes: ByteView, _ head: PacketHead
    ) throws(PacketFailure) {
        document.removeAll()
        do throws(PacketFailure) {
            var reader = PacketReader(bytes)
            try decode(characteristic, &reader, head)
        } catch {
            document.removeAll()
            throw error
        }
    }

    private mutating func decode(
        _ characteristic: GATTCharacteristic, _ reader: inout PacketReader, _ head: PacketHead
    ) throws(PacketFailure) {
        switch characteristic {
        case .heartRate: try decodeHeartRate(&reader, head)
        case .bloodPressure: try decodePressure(&reader, head, isFinal: true)
        case .cuffPressure: try decodePressure(&reader, head, isFinal: false)
        case .glucose: try decodeGlucose(&reader, head)
        case .glucoseContext: try decodeContext(&reader, head)
        case .continuousGlucose: try decodeContinuousGlucose(&reader, head)
        case .temperature: try decodeTemperature(&reader, head, isFinal: true)
        case .intermediateTemperature: try decodeTemperature(&reader, head, isFinal: false)
        case .oxygenSpotCheck: try decodeSpotCheck(&reader, head)
        case .oxygenContinuous: try decodeContinuousOxygen(&reader, head)
        case .running: try decodeRunning(&reader, head)
        case .weight: try decodeWeight(&reader, head)
        case .battery: try decodeBattery(&reader, head)
        }
    }

    /// Begins the object of a packet that may have a clock of its own, and says what that shows.
    mutating func begin(_ head: PacketHead, _ clock: DeviceClock?) {
        document.begin(head, at: head.time(clock))
        if let clock { document.member(.deviceTime, clock) }
    }
}

/// What the templates of a source look at in packets; nothing else is written.
package struct PacketNeeds {
    /// The names that their expressions mention, by number.
    var names: [String]
    /// Whether they look at other members as well.
    var all = true
    /// Whether the objects are looked at as JSON, and not only their members.
    var text = true
    /// Whether times are looked at as texts, and not only as times.
    var timesAsText = true

    package init(names: [String], all: Bool = true, text: Bool = true, timesAsText: Bool = true) {
        (self.names, self.all, self.text, self.timesAsText) = (names, all, text, timesAsText)
    }
}

/// The order of the three octets of a CGM record's sensor status, which are all as long: their meaning depends on it.
/// In both, bit 7 of the flags says that the status is there, bit 6 calibration and temperature, and bit 5 the warning.
package enum CGMStatusOrder: String, CaseIterable, Sendable {
    /// Status, calibration and temperature, warning: the Bluetooth SIG's CGM Service, section 3.1.
    case statusFirst = "status-first"
    /// Warning, calibration and temperature, status: what Nordic's nRF5 SDK sends, and its library for Android reads.
    case warningFirst = "warning-first"
}
