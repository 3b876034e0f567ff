import { addDays, addMonths } from './dates.ts';

export interface Terms {
  /** Months between two invoices. */
  every: number;
  /** Days until an invoice is due. */
  days: number;
}

export interface Invoice {
  date: string;
  due: string;
}

/** The first invoices of a contract. */
export function schedule(start: string, { every, days }: Terms, count: number): Invoice[] {
  const invoices: Invoice[] = [];
  let date = start;
  for (let number = 0; number < count; number++) {
    invoices.push({ date, due: addDays(date, days) });
    date = addMonths(date, every);
  }
  return invoices;
}
