extension Rejection {
    /// The rule that the reading broke, and what to do about it, in one sentence without a final stop.
    package var explanation: String {
        switch self {
        case .invalidJSON: "the payload is not JSON (RFC 8259)"
        case .invalidUTF8: "the payload is not UTF-8"
        case .tooDeep: "the payload nests deeper than the cap"
        case .tooManyValues: "the payload has more values than the cap"
        case .lineTooLong: "the line is longer than limits.lineBytes"
        case .truncatedDatagram: "the datagram is longer than the receive buffer"
        case .noTemplate: "no template of the source's mappings matches"
        case .noDevice:
            "a reading needs a device: the expression gave none and the source states no default; "
                + "state one with --default-device, or with defaultDevice of the source"
        case .noTimestamp: "a reading needs a time, and the expression gave none or null"
        case .invalidTimestamp: "the time is not in the template's timestampFormat, or outside 1678…2262"
        case .missingValue: "a required value must be there and not blank, and a reading needs at least one value"
        case .nullValue: "a required value must not be null"
        case .invalidValue: "the value must be a text or number, and such as the FHIR template's valueType needs"
        case .inexactNumber: "the number has more than 18 digits, so it cannot be kept exactly"
        case .ambiguousExpression: "the expression must select one token and selected several"
        case .noPatient: "identity: strict demands a patient"
        case .noCorrelation: "the correlation id must be there when its expression is given"
        case .noFHIRTemplate: "the type needs a template in fhir.json"
        case .clockAhead: "the time lies more than maxFuture after the receipt"
        case .tooManyDevices: "the cap on devices is reached"
        case .tooManyWindows: "the cap on open windows is reached"
        case .tooManyReadings: "the cap on readings of one window is reached"
        case .archiveEvicted: "the window was emitted and evicted, and a partial must not replace it"
        case .valueTooLong: "an identifier or text is longer than the cap"
        case .shutdown: "the process was told to stop"
        case .unknownUnit: "the payload's unit must be one that the mapping lists under units"
        case .unmappedValue: "the value must be one that the mapping lists under map, or have a mapDefault"
        case .expressionFailed: "the expression failed while it was evaluated"
        case .tooManySamples:
            "the samples of a value are more than 65,000 or take more than 64 KiB, or those of a reading more than "
                + "256 KiB or half of the ring"
        case .ambiguousLocalTime:
            "the clock of the source's timezone shows the time twice or never, on the day on which it is changed; send "
                + "times with an offset"
        case .eventAborted: "with compatibility iomt-fhir an error ends the event"
        case .invalidIdentifier:
            "an identifier must be UTF-8, without control characters and without halves of surrogate pairs"
        case .archiveDamaged: "what the archive kept of the reading's window is damaged"
        case .serverRefused: "the FHIR server refused the entry: mend the mapping or the server, then replay it"
        case .serverFailed:
            "the FHIR server fails at the entry again and again, and takes others: look into its log, then replay it"
        case .entryTooLarge: "the entry alone is larger than the FHIR server takes: shorten the windows, then replay it"
        case .identityNotFound: "the FHIR server has no such Device, Patient or Encounter: register it, then replay it"
        case .identityAmbiguous: "the FHIR server has several resources of one identifier: merge them, then replay it"
        case .identityNotDefined: "the sink's identity mode needs a patient or encounter that the reading does not name"
        case .patientDeviceMismatch: "the FHIR server's Device belongs to another patient than the reading"
        case .mergeFailed: "the Observation does not fit the one that the FHIR server holds"
        case .malformedBundle: "what waited for the sink cannot be read, or is no transaction or batch"
        case .superseded:
            "another reading of the same id, or of the same time, has taken its place or keeps it (sameInstant)"
        case .frameTooLong: "the frame is longer than limits.lineBytes"
        case .frameMalformed: "the bytes are no frame, or no whole document, of the source's framing"
        case .tableHeader:
            "the header row must name each column once, with the delimiter of the framing (csv,delimiter=semicolon)"
        case .tableRow:
            "the row must have a field for each column of the header row, with quotes as RFC 4180 has them"
        case .compressedInput: "the gzip or zstd data is damaged or cut here; gzip -t or zstd -t checks the file"
        case .frameChecksum: "the frame does not have the checksum that it states"
        case .frameIncomplete: "the stream ended within a line or frame"
        case .beginningMissed: "the serial line was opened within the line or frame, and this is the rest of it"
        case .truncatedPacket: "the packet is shorter than its own flags say"
        case .malformedPacket: "the packet contradicts itself: a size or date that cannot be, or bytes of no field"
        case .wrongChecksum: "the packet's checksum is not that of its bytes"
        case .implausibleValue: "the packet states what cannot be in nature, such as a negative concentration"
        case .controlSolution: "the meter was tested with a control solution, and nobody's glucose was measured"
        case .testMeasurement: "the device demonstrated or tested itself, and measured nobody"
        case .invalidBridgeFrame:
            "the frame is not as docs/gatt.md says, or its packet is neither hexadecimal nor base64"
        case .unknownCharacteristic: "neither kymo nor a mapping of the source knows the characteristic or handle"
        }
    }
}
