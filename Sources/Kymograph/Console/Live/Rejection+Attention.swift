import KymographCore

extension Rejection {
    /// Why readings were not taken, in words for those who care for patients, and not for settings.
    var plainCause: String {
        switch self {
        case .invalidJSON, .invalidUTF8, .malformedMessage, .frameMalformed, .malformedPacket, .invalidBridgeFrame,
            .tableHeader, .tableRow, .noEnvelope:
            "the message cannot be read"
        case .truncatedDatagram, .frameIncomplete, .beginningMissed, .truncatedPacket, .frameChecksum, .wrongChecksum,
            .compressedInput:
            "the message came damaged or cut off"
        case .tooDeep, .tooManyValues, .lineTooLong, .frameTooLong, .valueTooLong, .tooManySamples:
            "the message is larger than allowed"
        case .noTemplate, .noFHIRTemplate, .unknownCharacteristic: "no mapping knows this kind of reading"
        case .unknownUnit: "the mapping does not know the unit"
        case .unmappedValue: "the mapping does not know the value"
        case .ambiguousExpression, .expressionFailed, .eventAborted, .noCorrelation:
            "the mapping does not fit the message"
        case .noDevice: "the message does not say which device measured"
        case .noTimestamp, .invalidTimestamp, .unknownTimeZone, .ambiguousLocalTime:
            "the time of the measurement is missing or unclear"
        case .missingValue, .nullValue: "the measured value is missing"
        case .invalidValue, .inexactNumber, .implausibleValue: "the measured value cannot be used"
        case .noPatient, .identityNotDefined, .patientUnknown: "it is not known whose they are"
        case .identityNotFound: "the FHIR server does not know the device or patient"
        case .identityAmbiguous: "the FHIR server has the device or patient twice"
        case .patientDeviceMismatch: "the device belongs to another patient"
        case .patientChanged: "the same time of the device is filed for another patient"
        case .clockAhead: "the clock of the device is ahead"
        case .tooManyDevices, .tooManyWindows, .tooManyReadings, .bufferFull, .rateLimited:
            "more came than is allowed"
        case .archiveEvicted: "they came after the archive had dropped their time"
        case .archiveDamaged: "what is stored of their time is damaged"
        case .shutdown: "the instance was stopping"
        case .serverRefused, .serverFailed, .entryTooLarge, .mergeFailed, .malformedBundle:
            "the FHIR server does not take them"
        case .superseded: "another reading stands in their place"
        case .invalidIdentifier: "the name of a device or patient cannot be used"
        case .deviceNotAllowed, .patientNotAllowed, .unknownPeer: "the sender may not bring them"
        case .notSealed, .unknownKey, .sealBroken, .sequenceRepeated, .sequenceStale:
            "nothing proves who sent them"
        case .unsupportedMessage, .unsupportedCharset: "this kind of message is not supported"
        case .resultStatus: "the result is not final, or withheld"
        case .topicNotSubscribed: "their topic is not asked for any more"
        case .droppedByRule, .rejectedByRule: "a rule leaves them out"
        case .ruleFailed: "a rule failed"
        case .typeNotAllowed: "the source does not take this type"
        case .afterStopDate: "the source was to end before"
        case .typePaused, .sourcePaused: "they are paused"
        case .retracted: "their sender has taken them back"
        case .unknownRetraction, .ambiguousRetraction: "it is unclear which reading was taken back"
        case .controlSolution, .testMeasurement: "a test was measured, and no patient"
        }
    }

    /// What can be done about readings that were rejected.
    enum Fate: String, Encodable, Sendable {
        /// Nothing: settings or senders want it so, and no reading of a patient is missing against anyone's will.
        case intended
        /// Mend the cause, and replay them.
        case replayable
        /// Have them sent again: what is kept of them, if anything, is never mapped again as it is.
        case lost
    }

    /// What can be done about those that were rejected for it.
    var fate: Fate {
        let intended: Set<Rejection> = [
            .superseded, .topicNotSubscribed, .droppedByRule, .rejectedByRule, .typeNotAllowed, .afterStopDate,
            .retracted, .controlSolution, .testMeasurement,
        ]
        if intended.contains(self) { return .intended }
        if [.bufferFull, .archiveEvicted].contains(self) { return .lost }
        return switch letterContent {
        case .part: .lost
        case .payload, .either: .replayable
        }
    }
}
