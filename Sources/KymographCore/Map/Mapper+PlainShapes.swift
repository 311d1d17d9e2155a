/// Documents of known shapes that give one number of a device: nearly all. What they give stays in registers until it
/// waits for its ring, and no key is written.
extension Mapper {
    /// Hands on what the document of a shape gives, if that is a plain reading whose series has a short key; false when
    /// nothing has happened, and it is to be read in the way of all.
    @inline(__always)
    mutating func takePlain(
        _ plan: ShapePlan, _ values: DocumentValues, _ context: borrowing SourceContext, _ received: Instant,
        _ output: inout some PlainReadingOutput & ~Copyable
    ) -> Bool {
        guard plan.isPlain, context.defaultPatient.isEmpty, !context.requiresPatient,
            let key = ShortKey(type: templates[Int(plan.template)].type, device: values.text(Int(plan.device))),
            let reading = plainReading(plan, values, context, received)
        else { return false }
        return output.take(reading, key: key)
    }

    @inline(__always)
    private func plainReading(
        _ plan: ShapePlan, _ values: DocumentValues, _ context: borrowing SourceContext, _ received: Instant
    ) -> PlainReading? {
        let format = templates[Int(plan.template)].format
        guard passes(plan, values),
            let written = values.time(Int(plan.timestamp), isText: plan.isTimeText, format),
            let time = context.settled(written),
            time.instant <= received.advanced(by: context.maxFuture),
            let number = values.number(Int(known.values[Int(plan.firstValue)].place))
        else { return nil }
        return PlainReading(
            instant: time.instant, received: received, timeForm: time.form, number: number)
    }
}
