/// The members that decoded packets have, for checks of the templates that name them. docs/gatt.md says what each is.
extension GATTCharacteristic {
    /// What every packet's object can have.
    package static let commonMembers = ["characteristic", "device", "time", "received", "bridgeSequence"]

    /// What the objects of this characteristic can have besides.
    var members: [String] {
        switch self {
        case .heartRate: ["heartRate", "contact", "energyExpended", "start", "rrInterval"]
        case .bloodPressure: ["systolic", "diastolic", "meanArterial"] + Self.pressureMembers
        case .cuffPressure: ["cuffPressure"] + Self.pressureMembers
        case .glucose:
            [
                "deviceTime", "sequence", "record", "timeOffset", "glucose", "unit", "quality", "comparator",
                "specimen", "sampleLocation", "status", "batteryLow", "sensorMalfunction", "sampleInsufficient",
                "stripInsertionError",
                "stripTypeIncorrect", "resultTooHigh", "resultTooLow", "temperatureTooHigh", "temperatureTooLow",
                "readInterrupted", "generalFault", "timeFault", "contextFollows",
            ]
        case .glucoseContext:
            [
                "sequence", "carbohydrateKind", "carbohydrate", "meal", "tester", "health", "exerciseSeconds",
                "exerciseIntensity", "medicationKind", "medication", "medicationUnit", "glycatedHaemoglobin",
            ]
        case .continuousGlucose:
            [
                "minutes", "glucose", "unit", "validity", "comparator", "status", "calibration", "warning", "trend",
                "quality",
            ]
        case .temperature: ["temperature"] + Self.temperatureMembers
        case .intermediateTemperature: ["intermediateTemperature"] + Self.temperatureMembers
        case .oxygenSpotCheck: ["deviceTime", "clockNotSet"] + Self.oxygenMembers
        case .oxygenContinuous:
            ["fastOxygenSaturation", "fastPulseRate", "slowOxygenSaturation", "slowPulseRate"] + Self.oxygenMembers
        case .weight: ["deviceTime", "unit", "weight", "userId", "bodyMassIndex", "height", "heightUnit"]
        case .running: ["speed", "cadence", "gait", "strideLength", "distance"]
        case .battery: ["batteryLevel"]
        }
    }

    private static let pressureMembers = [
        "deviceTime", "unit", "pulseRate", "userId", "status", "bodyMovement", "cuffTooLoose", "irregularPulse",
        "pulseRange", "wrongPosition",
    ]

    private static let temperatureMembers = ["deviceTime", "unit", "site"]

    private static let oxygenMembers = [
        "oxygenSaturation", "pulseRate", "quality", "status", "measurementOngoing", "earlyEstimate", "validated",
        "fullyQualified", "fromStorage", "sensorStatus", "pulseAmplitudeIndex",
    ]
}

extension PacketForm {
    /// All members that the objects of these packets can have.
    package var members: [String] {
        var members = GATTCharacteristic.commonMembers
        switch carrier {
        case .value(let characteristic): members += characteristic.members
        // A mapping of a vendor's characteristic is about that one.
        case .frame where layouts.isEmpty: members += GATTCharacteristic.allCases.flatMap(\.members)
        case .frame, .packet, .message: break
        }
        return members + layouts.flatMap(\.fields).map { String(decoding: $0.name, as: UTF8.self) }
    }
}
