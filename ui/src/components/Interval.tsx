interface IntervalProps {
  value: number;
  low: number;
  high: number;
  /** The ends of the scale. */
  from?: number;
  to?: number;
  /** The interval in words, such as "70.2 to 80.6 %". */
  text?: string;
}

const WIDTH = 200;

/** A figure's interval: a bar on its scale, and words. */
export function Interval({ value, low, high, from = 0, to = 1, text }: IntervalProps) {
  const at = (one: number) => (to > from ? Math.min(1, Math.max(0, (one - from) / (to - from))) * WIDTH : 0);
  return (
    <div className="interval">
      <svg className="interval-bar" viewBox={`0 0 ${WIDTH} 8`} preserveAspectRatio="none" aria-hidden="true">
        <rect className="empty-range" x="0" y="3.5" width={WIDTH} height="1" />
        <rect className="range" x={at(low)} y="1.5" width={Math.max(at(high) - at(low), 1)} height="5" />
        <rect className="point" x={at(value) - 0.75} y="0" width="1.5" height="8" />
      </svg>
      {text}
    </div>
  );
}
