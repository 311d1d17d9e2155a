import KymographCore
import Testing

/// Flags and words of packets, a bit a case, as the specifications of the services number them.
@Suite struct PacketFlagTests {
    private static let pressure = ["bodyMovement", "cuffTooLoose", "irregularPulse", "", "", "wrongPosition"]
    private static let meter = [
        "batteryLow", "sensorMalfunction", "sampleInsufficient", "stripInsertionError", "stripTypeIncorrect",
        "resultTooHigh", "resultTooLow", "temperatureTooHigh", "temperatureTooLow", "readInterrupted",
        "generalFault", "timeFault",
    ]
    private static let oximeter =
        ["", "", "", "", ""]
        + ["measurementOngoing", "earlyEstimate", "validated", "fullyQualified", "fromStorage"]

    /// The flags of a packet whose last two bytes are a status, for each bit of that; "" for a bit without a flag.
    @Test(
        arguments: [
            ("2A35", "10 7800 5000 6000", pressure), ("2A36", "10 7800 5000 6000", pressure),
            ("2A18", "08 0100 ea070301070000", meter),
            ("2A5E", "02 6100 6000", oximeter), ("2A5F", "04 6100 6000", oximeter),
        ] as [(String, String, [String])])
    func statusBits(_ characteristic: String, _ packet: String, _ names: [String]) throws {
        let run = try PacketRun("gatt/\(characteristic)")
        for bit in 0..<16 {
            let status = UInt16(1) << UInt16(bit)
            let bytes = PacketRun.bytes(packet) + [UInt8(status & 255), UInt8(status >> 8)]
            let outcome = run.datagram(bytes)
            let flags = outcome.readings.flatMap { $0.values.filter { $0.value == "True" }.keys }
            let expected = bit < names.count && !names[bit].isEmpty ? [names[bit]] : []
            #expect(flags == expected, "bit \(bit)")
            // A demonstration, and a test of the device.
            let isRefused = characteristic.hasPrefix("2A5") && (bit == 10 || bit == 11)
            #expect(outcome.reasons == (isRefused ? [.testMeasurement] : []), "bit \(bit)")
        }
    }

    @Test(
        arguments: [
            ("2A35", "00 7800 5000 6000", "pulseRange", nil),
            ("2A35", "10 7800 5000 6000 0000", "pulseRange", "within"),
            ("2A35", "10 7800 5000 6000 0800", "pulseRange", "above"),
            ("2A35", "10 7800 5000 6000 1000", "pulseRange", "below"),
            ("2A35", "10 7800 5000 6000 1800", "pulseRange", nil), ("2A35", "00 7800 5000 6000", "unit", "mmHg"),
            ("2A35", "01 7800 5000 6000", "unit", "kPa"), ("2A37", "00 3c", "contact", "unknown"),
            ("2A37", "02 3c", "contact", "unknown"), ("2A37", "04 3c", "contact", "lost"),
            ("2A37", "06 3c", "contact", "detected"), ("2A53", "00 0000 00", "gait", "walking"),
            ("2A53", "04 0000 00", "gait", "running"), ("2A9D", "08 d202 e600 d606", "heightUnit", "m"),
            ("2A9D", "09 d202 e600 d606", "heightUnit", "in"), ("2A9D", "00 d202", "heightUnit", nil),
            ("2A9D", "00 d202", "unit", "kg"), ("2A9D", "01 d202", "unit", "lb"),
            ("2A1C", "00 6c0100ff", "unit", "Cel"),
            ("2A1C", "01 6c0100ff", "unit", "degF"), ("2A5E", "00 6100 6000", "clockNotSet", nil),
            ("2A5E", "10 6100 6000", "clockNotSet", "True"),
        ] as [(String, String, String, String?)])
    func words(_ characteristic: String, _ packet: String, _ member: String, _ text: String?) throws {
        #expect(try value(characteristic, packet, member) == text)
    }

    @Test(
        arguments: [
            ("0000", "good"), ("0010", "calibrating"), ("0020", "unavailable"), ("0040", "questionable"),
            ("0080", "invalid"), ("0030", "unavailable"), ("0050", "calibrating"), ("00f0", "invalid"),
        ])
    func qualityOfSaturation(_ status: String, _ text: String) throws {
        #expect(try value("2A5E", "02 6100 6000 \(status)", "quality") == text)
        #expect(try value("2A5F", "04 6100 6000 \(status)", "quality") == text)
    }

    @Test(
        arguments: [
            "", "armpit", "body", "ear", "finger", "gastro-intestinal", "mouth", "rectum", "toe", "tympanum", "",
        ].enumerated().map { ($0.offset, $0.element) })
    func sites(_ number: Int, _ text: String) throws {
        let expected = text.isEmpty ? nil : text
        #expect(try value("2A1C", "04 6c0100ff \(hex(number))", "site") == expected)
        #expect(try value("2A1E", "04 6c0100ff \(hex(number))", "site") == expected)
    }

    // MARK: Glucose

    private static let record = "0100 ea070301070000"

    @Test(
        arguments: [
            "unspecified", "capillary-whole-blood", "capillary-plasma", "venous-whole-blood", "venous-plasma",
            "arterial-whole-blood", "arterial-plasma", "whole-blood", "plasma", "interstitial-fluid",
        ].enumerated().map { ($0.offset, $0.element) })
    func specimens(_ number: Int, _ text: String) throws {
        #expect(try value("2A18", "02 \(Self.record) 70b0 \(hex(number))", "specimen") == text)
    }

    @Test(
        arguments: [
            ("02 \(record) 70b0 01", "sampleLocation", nil), ("02 \(record) 70b0 11", "sampleLocation", "finger"),
            ("02 \(record) 70b0 21", "sampleLocation", "alternate-site"),
            ("02 \(record) 70b0 31", "sampleLocation", "earlobe"), ("02 \(record) 70b0 f1", "sampleLocation", nil),
            ("02 \(record) 70b0 11", "unit", "mg/dL"), ("06 \(record) 3cc0 11", "unit", "mmol/L"),
            ("00 \(record)", "contextFollows", nil), ("10 \(record)", "contextFollows", "True"),
        ] as [(String, String, String?)])
    func glucoseWords(_ packet: String, _ member: String, _ text: String?) throws {
        #expect(try value("2A18", packet, member) == text)
    }

    /// Whether a number may be used: 112 mg/dL of a finger, and what the status says of it.
    @Test(
        arguments: [
            ("0000", "good"), ("0100", "good"), ("0200", "invalid"), ("0400", "invalid"), ("0800", "invalid"),
            ("1000", "invalid"), ("2000", "good"), ("4000", "good"), ("6000", "invalid"), ("8000", "invalid"),
            ("0001", "invalid"), ("0002", "invalid"), ("0004", "invalid"), ("0008", "good"), ("00f0", "good"),
        ])
    func qualityOfGlucose(_ status: String, _ text: String) throws {
        #expect(try value("2A18", "0a \(Self.record) 70b0 11 \(status)", "quality") == text)
    }

    /// Of a number beyond what the meter can process only a bound is known; infinity says so itself.
    @Test(
        arguments: [
            ("70b0 11 2000", ">"), ("70b0 11 4000", "<"), ("70b0 11 6000", nil), ("70b0 11 2200", nil),
            ("70b0 11 0000", nil), ("fe07 11 2000", nil), ("0208 11 4000", nil),
        ] as [(String, String?)])
    func boundsOfGlucose(_ rest: String, _ text: String?) throws {
        #expect(try value("2A18", "0a \(Self.record) \(rest)", "comparator") == text)
    }

    @Test func unitsOfMedication() throws {
        #expect(try value("2A34", "10 0700 02 d002", "medicationUnit") == "mg")
        #expect(try value("2A34", "30 0700 02 d002", "medicationUnit") == "mL")
        #expect(try value("2A34", "00 0700", "medicationUnit") == nil)
    }

    // MARK: Continuous glucose

    private func octets(_ order: String, _ record: String) throws -> [String?] {
        let run = try PacketRun("gatt/2AA7", top: #","cgmStatusOrder":"\#(order)""#)
        let reading = try #require(run.packet(record).readings.first)
        return ["status", "calibration", "warning"].map { reading.values[$0] }
    }

    /// The flags say which octets are there, in both orders.
    @Test(arguments: ["status-first", "warning-first"])
    func oneStatusOctetIsWhatItsFlagSays(_ order: String) throws {
        #expect(try octets(order, "07 80 0c10 0600 11") == ["17", nil, nil])
        #expect(try octets(order, "07 40 0c10 0600 11") == [nil, "17", nil])
        #expect(try octets(order, "07 20 0c10 0600 11") == [nil, nil, "17"])
    }

    @Test func orderOfStatusOctets() throws {
        #expect(try octets("status-first", "09 e0 0c10 0600 01 02 03") == ["1", "2", "3"])
        #expect(try octets("warning-first", "09 e0 0c10 0600 01 02 03") == ["3", "2", "1"])
        #expect(try octets("status-first", "08 a0 0c10 0600 01 03") == ["1", nil, "3"])
        #expect(try octets("warning-first", "08 a0 0c10 0600 01 03") == ["3", nil, "1"])
        #expect(try octets("status-first", "08 60 0c10 0600 02 03") == [nil, "2", "3"])
        #expect(try octets("warning-first", "08 60 0c10 0600 03 02") == [nil, "2", "3"])
    }

    private func value(_ characteristic: String, _ packet: String, _ member: String) throws -> String? {
        let run = try PacketRun("gatt/\(characteristic)")
        return try #require(run.packet(packet).readings.first, "\(characteristic) \(packet)").values[member]
    }

    private func hex(_ number: Int) -> String { (number < 16 ? "0" : "") + String(number, radix: 16) }
}
