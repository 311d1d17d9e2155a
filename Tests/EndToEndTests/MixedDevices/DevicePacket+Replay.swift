/// What the devices of a ward have sent: packets that were captured from real devices, or published as tests, all of
/// them among the shared vectors or the catalogue's examples.
extension DevicePacket {
    /// All packets, those of different devices between each other, as they come from a bridge that serves all.
    static let replay: [DevicePacket] = {
        let devices = [strap, battery, oximeter, cuff, thermometer, scale, meter, monitor, pod]
        let longest = devices.map(\.count).max() ?? 0
        return (0..<longest).flatMap { round in devices.compactMap { $0.count > round ? $0[round] : nil } }
    }()

    private static func one(
        _ device: String, _ characteristic: String, at milliseconds: Int, _ hex: String, session: String = "",
        feature: String = "", _ readings: String...
    ) -> DevicePacket {
        DevicePacket(
            device: device, characteristic: characteristic, milliseconds: milliseconds, hex: hex, session: session,
            feature: feature, readings: readings)
    }

    // MARK: Straps

    private static func beats(_ second: Int, _ hex: String, rate: Int, _ interval: String) -> DevicePacket {
        one(
            "A0:9E:1A:5B:3C:01", "2A37", at: second * 1_000 + 250, hex,
            "\"type\":\"heartRate\",\"beatsPerMinute\":\(rate)",
            "\"type\":\"beatIntervals\",\"milliseconds\":\(interval)")
    }

    private static let strap = [
        beats(5, "163c1104", rate: 60, "1016.6015625"), beats(6, "163cf503", rate: 60, "989.2578125"),
        beats(7, "1634e404", rate: 52, "1222.65625"), beats(8, "1634a504", rate: 52, "1161.1328125"),
        beats(9, "1633ea04", rate: 51, "1228.515625"), beats(10, "164d1603", rate: 77, "771.484375"),
        beats(11, "103b5304", rate: 59, "1081.0546875"),
        // Without skin contact nothing is charted.
        one("A0:9E:1A:5B:3C:01", "2A37", at: 60_000, "04ff"),
        // The first of two intervals ends where the second begins, 977,539,062.5 ns before the packet came.
        one(
            "A0:9E:1A:5B:3C:01", "2A37", at: 125_250, "1e4b8000f703e903",
            "\"type\":\"heartRate\",\"beatsPerMinute\":75",
            """
            "type":"beatIntervals","time":"2026-03-01T08:02:04.272460938+01:00","milliseconds":991.2109375
            """, "\"type\":\"beatIntervals\",\"milliseconds\":977.5390625"),
        one(
            "A0:9E:1A:5B:3C:01", "2A37", at: 180_000, "01c800", "\"type\":\"heartRate\",\"beatsPerMinute\":200"),
    ]

    private static let battery = [
        one("A0:9E:1A:5B:3C:01", "2A19", at: 1_000, "64", "\"type\":\"batteryLevel\",\"percent\":100"),
        one("A0:9E:1A:5B:3C:01", "2A19", at: 61_000, "0f", "\"type\":\"batteryLevel\",\"percent\":15"),
    ]

    // MARK: Vital signs

    private static func oxygen(
        _ second: Int, _ hex: String, percent: String, rate: String
    ) -> DevicePacket {
        one(
            "00:1C:05:FF:4E:21", "2A5F", at: second * 1_000, hex,
            "\"type\":\"continuousOxygenSaturation\",\"percent\":\(percent)",
            "\"type\":\"continuousPulseRate\",\"beatsPerMinute\":\(rate)")
    }

    private static let oximeter = [
        oxygen(5, "0c62004e002000000000", percent: "98", rate: "78"),
        oxygen(6, "0361004b0060004a0061004b00", percent: "97", rate: "75"),
        oxygen(7, "00ff07ff07", percent: "\"NaN\"", rate: "\"NaN\""),
        one(
            "00:1C:05:FF:4E:21", "2A5E", at: 8_000, "01caf380f2ea070301073b0a",
            "\"type\":\"spotOxygenSaturation\",\"time\":\"2026-03-01T07:59:10+01:00\",\"percent\":97.0",
            "\"type\":\"spotPulseRate\",\"time\":\"2026-03-01T07:59:10+01:00\",\"beatsPerMinute\":64.0"),
        // The clock was never set: there is no time to chart it at.
        one("00:1C:05:FF:4E:21", "2A5E", at: 9_000, "1761006000e10701010122132000200000"),
    ]

    private static let cuff = [
        one(
            "5C:31:3E:07:AA:10", "2A35", at: 1_250, "def6f416f3ff07e4070114082b00b2f2018000",
            """
            "type":"cuffBloodPressure","time":"2020-01-20T08:43:00+01:00","systolic":127.0,"diastolic":79.0,"mean":"NaN"
            """,
            "\"type\":\"cuffPulseRate\",\"time\":\"2020-01-20T08:43:00+01:00\",\"beatsPerMinute\":69.0"),
        one(
            "5C:31:3E:07:AA:10", "2A35", at: 2_250, "de88f420f3ff07e4070113163700bcf2014401",
            """
            "type":"cuffBloodPressure","time":"2020-01-19T22:55:00+01:00","systolic":116.0,"diastolic":80.0,"mean":"NaN"
            """,
            "\"type\":\"cuffPulseRate\",\"time\":\"2020-01-19T22:55:00+01:00\",\"beatsPerMinute\":70.0"),
        // 18.9 and 11 kPa.
        one(
            "5C:31:3E:07:AA:10", "2A35", at: 3_250, "15bdf00b009ff03c001200",
            "\"type\":\"bloodPressure\",\"systolic\":142,\"diastolic\":83",
            "\"type\":\"cuffPulseRate\",\"beatsPerMinute\":60"),
        // Three bytes of a maker's own before the pressures.
        one("5C:31:3E:07:AA:10", "2A35", at: 4_250, "fe202700750055005f00e407091810093a690001"),
    ]

    private static let thermometer = [
        one(
            "FC:45:C3:11:20:9D", "2A1C", at: 1_500, "04530d00fe09",
            "\"type\":\"thermometerCelsius\",\"bodyTemperature\":34.11"),
        one(
            "FC:45:C3:11:20:9D", "2A1C", at: 2_500, "045c0d00fe09",
            "\"type\":\"thermometerCelsius\",\"bodyTemperature\":34.20"),
        one(
            "FC:45:C3:11:20:9D", "2A1C", at: 3_500, "06b00e00fedc070c050b321b04",
            "\"type\":\"thermometerCelsius\",\"time\":\"2012-12-05T11:50:27+01:00\",\"bodyTemperature\":37.60"),
        one(
            "FC:45:C3:11:20:9D", "2A1C", at: 4_500, "01da0300ff",
            "\"type\":\"thermometerFahrenheit\",\"bodyTemperature\":98.6"),
        one(
            "FC:45:C3:11:20:9D", "2A1C", at: 5_500, "00ffff7f00",
            "\"type\":\"thermometerCelsius\",\"bodyTemperature\":\"NaN\""),
    ]

    private static let scale = [
        one("8C:DE:52:99:00:4F", "2A9D", at: 1_000, "00b036", "\"type\":\"bodyMass\",\"bodyMass\":70.000"),
        // 157 pounds.
        one("8C:DE:52:99:00:4F", "2A9D", at: 2_000, "01543d", "\"type\":\"bodyMass\",\"bodyMass\":71.21"),
        one(
            "8C:DE:52:99:00:4F", "2A9D", at: 3_000, "0cb03605f500d606",
            "\"type\":\"bodyMass\",\"bodyMass\":70.000", "\"type\":\"height\",\"height\":175.0",
            "\"type\":\"bodyMassIndex\",\"bodyMassIndex\":24.5"),
    ]

    // MARK: Glucose

    private static let meter = [
        one(
            "04:EE:03:7B:55:60", "2A18", at: 1_000, "030000e407030e171700000070b011",
            """
            "type":"meterCapillaryGlucoseMass","time":"2020-03-14T23:23:00+01:00","glucose":112,"sequence":0
            """),
        // The clock, and 334 minutes that the user has added since.
        one(
            "04:EE:03:7B:55:60", "2A18", at: 2_000, "0b0400e407050e0c311d4e0168b0f80000",
            """
            "type":"meterPlasmaGlucoseMass","time":"2020-05-14T18:23:29+01:00","glucose":104,"sequence":4
            """),
        one(
            "04:EE:03:7B:55:60", "2A18", at: 3_000, "060900ea0703010700003cc011",
            """
            "type":"meterCapillaryGlucoseMolar","time":"2026-03-01T07:00:00+01:00","glucose":6.0,"sequence":9
            """),
        one(
            "04:EE:03:7B:55:60", "2A18", at: 4_000, "130700ea070301070000000070b011",
            """
            "type":"meterCapillaryGlucoseMass","time":"2026-03-01T07:00:00+01:00","glucose":112,"sequence":7
            """),
        // Belongs to the record before, by its sequence number.
        one(
            "04:EE:03:7B:55:60", "2A34", at: 4_100, "030700012dd002",
            "\"type\":\"carbohydrateIntake\",\"time\":\"2026-03-01T07:00:00+01:00\",\"grams\":45"),
        // A control solution, which is no patient.
        one("04:EE:03:7B:55:60", "2A18", at: 5_000, "020300ea0703010700006eb01a"),
    ]

    /// A session that began at midnight, 60 minutes ahead of UTC.
    private static let session = "ea0703010000000400"

    private static func sensed(_ time: String, _ glucose: String) -> String {
        "\"type\":\"sensorGlucose\",\"time\":\"2026-03-01T\(time)+01:00\",\"glucose\":\(glucose)"
    }

    private static let monitor = [
        one(
            "sensor-1", "2AA7", at: 1_000, "06000c10050006000d100600", session: session, sensed("00:05:00", "120"),
            sensed("00:06:00", "130")),
        one(
            "sensor-2", "2AA7", at: 2_000, "08000c100600596f", session: session, feature: "0010000000ffff",
            sensed("00:06:00", "120")),
        one(
            "sensor-3", "2AA7", at: 3_000, "0fe3d2e4050002043f02f0e5f34936", session: session,
            sensed("00:05:00", "12.34")),
        // The same with a wrong checksum.
        one("sensor-2", "2AA7", at: 4_000, "08000c100600586f", session: session),
    ]

    private static let pod = [
        one(
            "D1:22:40:8A:6E:07", "2A53", at: 1_000, "008002b4", "\"type\":\"runningCadence\",\"stepsPerMinute\":180",
            "\"type\":\"runningSpeed\",\"metresPerSecond\":2.5"),
        one(
            "D1:22:40:8A:6E:07", "2A53", at: 2_000, "070003125600010000f0",
            "\"type\":\"runningCadence\",\"stepsPerMinute\":18", "\"type\":\"runningSpeed\",\"metresPerSecond\":3"),
    ]
}
