extension Rejection {
    /// What a dead letter of a reason holds.
    package enum LetterContent: Sendable {
        /// The payload as it came: mapped again, it says the same.
        case payload
        /// A part of a line, frame or datagram, or bytes that include those around a payload: taken for a payload, they
        /// may say something else.
        case part
        /// The one or the other.
        case either
    }

    /// Whether nothing shows that the datagram is of whom it names: it is never mapped, and few of such are kept.
    package var isUnproven: Bool {
        (Rejection.notSealed.rawValue...Rejection.sequenceStale.rawValue).contains(rawValue)
    }

    /// What dead letters with bytes of a source hold. A new reason must be decided here.
    package var letterContent: LetterContent {
        switch self {
        case .lineTooLong, .truncatedDatagram, .frameTooLong, .frameMalformed, .frameChecksum, .frameIncomplete,
            .beginningMissed, .tableHeader, .tableRow, .compressedInput,
            // Without the topic, which said something else.
            .topicNotSubscribed,
            // Without the headers.
            .noEnvelope,
            // What nothing shows to be of whom it names: mapped, whoever has sent it would be believed.
            .notSealed, .unknownKey, .sealBroken, .sequenceRepeated, .sequenceStale:
            .part
        // The rest of a line that was never read, or a whole reading that found no room.
        case .shutdown: .either
        case .invalidJSON, .invalidUTF8, .tooDeep, .tooManyValues, .noTemplate, .noDevice, .noTimestamp,
            .invalidTimestamp, .missingValue, .nullValue, .invalidValue, .inexactNumber, .ambiguousExpression,
            .noPatient, .noCorrelation, .noFHIRTemplate, .clockAhead, .tooManyDevices, .tooManyWindows,
            .tooManyReadings, .archiveEvicted, .archiveDamaged, .valueTooLong, .unknownUnit, .unmappedValue,
            .expressionFailed, .eventAborted, .tooManySamples, .superseded, .invalidIdentifier, .ambiguousLocalTime,
            .bufferFull, .deviceNotAllowed, .patientNotAllowed, .rateLimited, .unknownPeer,
            .malformedMessage, .unsupportedMessage, .unsupportedCharset, .resultStatus, .unknownTimeZone,
            .patientUnknown, .patientChanged, .droppedByRule, .rejectedByRule, .ruleFailed,
            .typeNotAllowed, .afterStopDate, .typePaused, .sourcePaused,
            .retracted, .unknownRetraction, .ambiguousRetraction:
            .payload
        // Packets and frames of bridges, as they came.
        case .truncatedPacket, .malformedPacket, .wrongChecksum, .implausibleValue, .controlSolution,
            .testMeasurement, .invalidBridgeFrame, .unknownCharacteristic:
            .payload
        // Of entries, which are bundles.
        case .serverRefused, .serverFailed, .entryTooLarge, .identityNotFound, .identityAmbiguous,
            .identityNotDefined, .patientDeviceMismatch, .mergeFailed, .malformedBundle:
            .payload
        }
    }
}
