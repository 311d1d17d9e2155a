extension KafkaFault {
    /// The same for an operator.
    var trouble: DeliveryTrouble {
        switch kind {
        case .unreachable: DeliveryTrouble(.unreachable, message)
        case .insecure: DeliveryTrouble(.insecure, message, isDefinite: true)
        case .refused: DeliveryTrouble(.credentialsRefused, message, isDefinite: true)
        case .unfit: DeliveryTrouble(.unfit, message, isDefinite: true)
        case .tooLarge, .content, .nowhere, .unreadable, .ended, .unable: DeliveryTrouble(.refusing, message)
        }
    }
}
