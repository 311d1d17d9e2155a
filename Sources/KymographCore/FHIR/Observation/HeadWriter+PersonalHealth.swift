/// Writes what Observations of the Personal Health Devices guide have besides others.
extension HeadWriter {
    /// Writes the guide's status: it knows no amended Observations. An Observation without readings is retracted all
    /// the same, because `final` would say that it still stands.
    @inline(never)
    mutating func writeGuideStatus(
        _ content: borrowing WindowContent, _ program: TypeProgram, _ writer: inout ByteWriter
    ) {
        let status = content.status.stated(isPreliminary: program.isPreliminary)
        writer.append((status == .amended ? .final : status).code)
    }

    /// Writes `device-patient-patientSystem-type-time[-duration]` as the value of the guide's identifier; `code` is the
    /// MDC code. The duration is in seconds.
    @inline(never)
    mutating func writeGuideIdentifier(
        _ content: borrowing WindowContent, code: ByteView, _ writer: inout ByteWriter
    ) {
        let subject = references.systems.subject(of: content.series)
        writer.appendJSON(content.series.device)
        writer.append("-")
        writer.appendJSON(subject.value)
        writer.append("-")
        writer.append(subject.system.escaped)
        writer.append("-")
        writer.append(code)
        writer.append("-")
        writer.append(guideTime: times.span.start)
        let length = times.span.length
        guard length > 0 else { return }
        writer.append("-")
        writer.append(Decimal64(mantissa: length, exponent: -9).shortened)
    }
}

extension ByteWriter {
    /// Writes `yyyyMMddHHmmss.ff`; more decimals where the time has them, so that no two times look alike.
    fileprivate mutating func append(guideTime instant: Instant) {
        let start = count
        append(compact: instant, fraction: true)
        // Without the Z, and with two decimals at least.
        truncate(to: count - 1)
        guard count - start == 14 else { return }
        append(".00")
    }
}

extension Decimal64 {
    /// The number without the zeros at its end.
    var shortened: Decimal64 {
        var number = self
        while number.exponent < 0, number.mantissa % 10 == 0 {
            number.mantissa /= 10
            number.exponent += 1
        }
        return number
    }
}
