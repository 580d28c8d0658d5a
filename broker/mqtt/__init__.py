"""The MQTT brokers as child processes: nats-server or Mosquitto, permissions and passwords."""
