/// Maps messages of HL7 v2: each group of results becomes a document, and each result in it is a reading by itself.
struct MessageMapper {
    private let reader: HL7Reader

    /// A mapper whose documents have what templates look at.
    init(_ needs: HL7Needs) { reader = HL7Reader(needs) }

    /// Maps one message. `bytes` must be padded.
    ///
    /// A result that gives no reading is rejected by itself, with a message of nothing but it; results that are one
    /// reading, or cannot be told apart, together.
    func map(
        _ bytes: ByteView, known: inout KnownPayloads, templates: inout TemplateMapper,
        context: borrowing SourceContext, received: Instant, output: inout some MeasurementOutput & ~Copyable
    ) {
        defer { reader.finish() }
        reader.hasClock = context.timezone != nil
        var hasAny = false
        do throws(ScanFailure) {
            try reader.begin(bytes)
            while reader.nextGroup() {
                for index in 0..<reader.refusalCount {
                    let refusal = reader.refusal(index)
                    output.reject(
                        refusal.reason, bytes: reader.letter(of: refusal.result), detail: RejectionDetail())
                }
                hasAny = hasAny || reader.refusalCount > 0 || reader.document.count > 0
                guard reader.document.count > 0 else { continue }
                templates.mapMessage(
                    reader, known: &known, context: context, received: received, output: &output)
            }
            if !hasAny { throw ScanFailure(reason: .noTemplate, offset: -1) }
        } catch {
            output.reject(error.reason, bytes: bytes, detail: RejectionDetail(offset: error.offset))
        }
    }
}
