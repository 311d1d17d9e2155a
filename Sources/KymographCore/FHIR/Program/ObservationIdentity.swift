/// The identity of an Observation: `patient.device.type.segment`, as iomt-fhir writes it (mapping dialect 5.2 and 6.1).
///
/// Two series never share an identity: dots and percent signs inside parts are escaped (`%2E`, `%25`), and encounter
/// and correlation follow as further parts where they tell series apart. An absent id and an empty one are the same.
extension ByteWriter {
    /// Writes `part` so that it holds no dot.
    package mutating func appendIdentityPart(_ part: [UInt8]) {
        part.withByteView { part in
            var clean = 0
            for index in 0..<part.count where part[index] == UInt8(ascii: ".") || part[index] == UInt8(ascii: "%") {
                append(part[clean..<index])
                part[index] == UInt8(ascii: ".") ? append("%2E") : append("%25")
                clean = index + 1
            }
            append(part[clean..<part.count])
        }
    }

    /// Writes the identity of `content`; `name` is the type's name, already escaped.
    @inline(__always)
    mutating func appendIdentity(
        _ content: borrowing WindowContent, _ program: TypeProgram, name: ByteView, times: inout TimeTexts
    ) {
        if let patient = content.series.patient { appendIdentityPart(patient) }
        append(UInt8(ascii: "."))
        appendIdentityPart(content.series.device)
        append(UInt8(ascii: "."))
        append(name)
        append(UInt8(ascii: "."))
        appendSegment(content, program, &times)
        appendFurtherParts(of: content, program)
    }

    /// Writes the parts that tell series of one type and device apart, and readings of one time.
    mutating func appendFurtherParts(of content: borrowing WindowContent, _ program: TypeProgram) {
        let series = content.series
        let id = content.readingId(program)
        // The correlation id of a correlation group is its segment already.
        let correlation = program.segment == .correlation ? nil : series.correlation
        guard series.encounter != nil || correlation != nil || id != nil else { return }
        append(UInt8(ascii: "."))
        if let encounter = series.encounter { appendIdentityPart(encounter) }
        guard correlation != nil || id != nil else { return }
        append(UInt8(ascii: "."))
        if let correlation { appendIdentityPart(correlation) }
        guard let id else { return }
        append(UInt8(ascii: "."))
        appendIdentityPart(id.array)
    }

    mutating func appendSegment(
        _ content: borrowing WindowContent, _ program: TypeProgram, _ times: inout TimeTexts
    ) {
        let fraction = !program.isCompatible
        switch program.segment {
        case .correlation:
            if let correlation = content.series.correlation { appendIdentityPart(correlation) }
        case .instance:
            // Its id names the reading: it may be corrected to another time.
            if content.readingId(program) != nil { return }
            append(compact: content.firstInstant(program), fraction: fraction)
            append(UInt8(ascii: "."))
            append(compact: content.start, fraction: fraction)
        case .window:
            times.append(content.start, fraction ? .compactWithFraction : .compact, to: &self)
            append(UInt8(ascii: "."))
            // The last tick of 100 ns inside the window.
            let end = content.end.advanced(by: -100)
            times.append(end, fraction && content.isShortOrUneven ? .compactWithFraction : .compact, to: &self)
        }
    }
}

extension WindowContent {
    /// The id of the reading of an instance; nil where it has none.
    fileprivate func readingId(_ program: TypeProgram) -> ByteView? {
        guard program.idSlot >= 0, program.segment == .instance, readings.count > 0 else { return nil }
        return text(0, slot: program.idSlot)
    }

    /// What the segment of an instance begins with: the start, if the reading has one.
    fileprivate func firstInstant(_ program: TypeProgram) -> Instant {
        guard program.durationSlot >= 0, readings.count > 0,
            let length = number(0, slot: program.durationSlot)
        else { return start }
        return start.advanced(by: -length.wholeNanoseconds)
    }

    /// Whether whole seconds do not tell the window's end from those of windows of other lengths that begin with it, or
    /// from a single reading's: two periods must never share an identity.
    fileprivate var isShortOrUneven: Bool {
        let length = end.nanoseconds &- start.nanoseconds
        return length < 2_000_000_000 || length % 1_000_000_000 != 0
    }
}
