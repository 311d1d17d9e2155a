/// Whose reading it is.
extension Mapper {
    mutating func readKey(
        _ template: borrowing TemplateCode, _ match: Int, _ bytes: ByteView, _ context: borrowing SourceContext
    ) throws(Failure) {
        SeriesKey.begin(into: &key)
        var head = SeriesKey.Head(type: Int(template.type))
        head.device = try readPart(
            template.device, .device, template, match, bytes, fallback: context.defaultDevice)
        if head.device == 0 { throw failure(.noDevice, template.index, .device) }
        if !template.patient.isAbsent || !context.defaultPatient.isEmpty {
            head.patient = try readPart(
                template.patient, .patient, template, match, bytes, fallback: context.defaultPatient)
        }
        if head.patient == 0, context.requiresPatient { throw failure(.noPatient, template.index, .patient) }
        if !template.encounter.isAbsent {
            head.encounter = try readPart(template.encounter, .encounter, template, match, bytes, fallback: [])
        }
        if !template.correlation.isAbsent {
            head.correlation = try readPart(template.correlation, .correlation, template, match, bytes, fallback: [])
        }
        if head.correlation == 0, template.needsCorrelation {
            throw failure(.noCorrelation, template.index, .correlation)
        }
        SeriesKey.finish(head, in: &key)
    }

    /// Adds one identifier to the key and returns its bytes + 1; 0 when there is none.
    @inline(__always)
    private mutating func readPart(
        _ expression: ExpressionCode, _ field: RejectionDetail.Field, _ template: borrowing TemplateCode, _ match: Int,
        _ bytes: ByteView, fallback: [UInt8]
    ) throws(Failure) -> UInt16 {
        let start = key.count
        let found = select(expression, template, match, bytes)
        if found < ExpressionEvaluator.none { throw failure(unusable(found), template.index, field) }
        if found >= 0 {
            let isContainer = evaluator.appendText(of: found, bytes, compatible: template.isCompatible, to: &key)
            // Patient and encounter are never required: what cannot be read counts as missing (section 2.4).
            let isOptional = field == .patient || field == .encounter
            if isContainer && !isOptional { throw failure(.invalidValue, template.index, field) }
        }
        if key.view(start..<key.count).isWhiteSpace {
            key.truncate(to: start)
            if fallback.isEmpty { return 0 }
            key.append(fallback)
        }
        let length = key.count - start
        guard length <= SeriesKey.longestPart else { throw failure(.valueTooLong, template.index, field) }
        key.reserve(ByteView.padding)
        let isPlain = key.view(start..<key.count).isPlainText
        guard isPlain || isIdentifier(key.view(start..<key.count), of: found, bytes) else {
            throw failure(.invalidIdentifier, template.index, field)
        }
        return UInt16(length + 1)
    }

    /// Why a selection that is neither a token nor nothing cannot be used.
    mutating func unusable(_ found: Int) -> Rejection {
        found == ExpressionEvaluator.several ? .ambiguousExpression : .expressionFailed
    }

    /// Whether `text`, which is that of token `found`, can be an identifier.
    ///
    /// Two that differ in a lone surrogate only would both have U+FFFD there. Where an expression made the text, it is
    /// not known which part of the document that came from: then no part may have one.
    @inline(never)
    mutating func isIdentifier(_ text: ByteView, of found: Int, _ bytes: ByteView) -> Bool {
        guard text.isIdentifier else { return false }
        guard found >= 0, text.hasReplacementCharacter else { return true }
        let source = evaluator.isPlain(found) ? bytes[evaluator.token(found).range] : bytes
        return !JSONUnescape.hasLoneSurrogate(source)
    }
}

extension ByteView {
    /// Whether there is nothing but white space; other control characters are none.
    @inline(__always)
    var isWhiteSpace: Bool {
        var index = 0
        while index < count {
            let byte = self[index]
            if byte > 0x20 || byte < 0x20 && !(0x09...0x0D).contains(byte) { return false }
            index += 1
        }
        return true
    }
}
