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
        case .ambiguousExpression:
            "the expression must select one token and selected several; or an HL7 message says in two ways whose a "
                + "result is, or has results that nothing tells apart"
        case .noPatient: "identity: strict, or a topic with a level for the patient, demands one"
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
        case .patientDeviceMismatch:
            "the FHIR server's Device belongs to another patient than the reading, or the patient map says another "
                + "patient or encounter than the message (patientConflict)"
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
        case .deviceNotAllowed:
            "the list of peers does not let the sender bring readings of this device; if it is to, add the device"
        case .patientNotAllowed:
            "the list of peers does not let the sender bring readings of this patient, or of none"
        case .rateLimited: "the sender brought more readings or bytes than its rates in the list of peers"
        case .unknownPeer: "the list of peers does not know who sent it"
        case .bufferFull:
            "the buffer is full, and the source drops what does not fit (whenFull: dropNewest); raise ringSlots, or "
                + "let it block"
        case .malformedMessage:
            "an HL7 v2 message begins with MSH, which names distinct delimiters and a control id, and its segments "
                + "have names"
        case .unsupportedMessage: "of HL7 v2 messages, those of ORU^R01 and version 2.x are read, each as a whole"
        case .unsupportedCharset:
            "the message must be in ASCII, or in the character set UNICODE UTF-8 or 8859/1 that MSH-18 names"
        case .resultStatus:
            "the status of the result (OBX-11) must be F, C or R, and no flag (OBX-8) such as TEST or INV may "
                + "withhold it"
        case .unknownTimeZone:
            "the time has no offset from UTC: send one, in it or in MSH-7, or state the timezone of the source"
        case .topicNotSubscribed:
            "no filter in topics has the topic: the broker's session has subscriptions of an earlier configuration"
        case .patientUnknown:
            "the patient map does not say whose the device is at the time of the reading: add the period, then replay "
                + "the letter"
        case .patientChanged:
            "a reading of this device and time was filed for another patient or encounter, and what has been filed "
                + "stays: see docs/patients.md"
        case .droppedByRule: "a rule drops it (rules); nothing is kept of it"
        case .rejectedByRule:
            "a rule rejects it (rules); when it is to be taken, change the rule, then replay the letter"
        case .noEnvelope:
            "the value of a record must be one JSON document without an envelope of its own, where headers are read: "
                + "see docs/kafka.md, headers"
        case .notSealed:
            "the source takes sealed datagrams only (sealedKeyFile), and this is none: have the sender seal it, or "
                + "send to another source"
        case .unknownKey:
            "sealedKeyFile has no key of the id that the datagram names: add it, or give the device a key that is there"
        case .sealBroken:
            "the datagram was changed on its way, or its sender has another key than sealedKeyFile has for the id"
        case .sequenceRepeated:
            "the key's sequence number has come before: the datagram came twice, or is replayed, or the sender has "
                + "lost its number and needs a new key"
        case .sequenceStale:
            "the sequence number is 1,024 or more below the highest of its key: the datagram is late or replayed, or "
                + "the sender has lost its number and needs a new key"
        case .ruleFailed:
            "an expression of a rule fails, or gives no value of its type, or no tag: change the rule, then replay the "
                + "letter"
        case .typeNotAllowed:
            "the source does not take this type (types); when it is to, name the type there, then replay the letter"
        case .afterStopDate: "it is of the time at which the source was to end (until), or later"
        case .typePaused: "its type is paused: after 'kymo resume', replay the letter"
        case .sourcePaused: "its source is paused: after 'kymo resume', replay the letter"
        case .retracted:
            "its sender has taken it back: only a document (in HL7 v2, a group of results) with its retraction and the "
                + "reading brings it back; have one that was corrected sent so"
        case .unknownRetraction:
            "no reading of the device and type has this id or time; if one comes later, it is kept out"
        case .ambiguousRetraction:
            "several readings of the device and type may be meant, and none was taken out: name the patient, or the id"
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
